"""How far an IP address reaches: the public internet, a private network, this computer, or where nobody may go.

No I/O.
"""

from __future__ import annotations

from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

__all__ = ["Reach", "address_in", "is_forbidden", "reach_of"]

Address = IPv4Address | IPv6Address


class Reach(IntEnum):
    """Where an address leads; the higher, the closer to what must not be reached from outside."""

    PUBLIC = 0
    PRIVATE = 1
    LOOPBACK = 2


_FORBIDDEN = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # "this network"; Linux takes 0.0.0.0 for loopback
            "169.254.0.0/16",  # link-local, with the metadata service of most clouds (169.254.169.254)
            "192.0.0.192/32",  # metadata of Oracle's cloud
            "100.100.100.200/32",  # metadata of Alibaba's cloud
            "168.63.129.16/32",  # platform service of Azure
            "224.0.0.0/4",  # multicast
            "255.255.255.255/32",
            "::/128",
            "fe80::/10",  # link-local
            "fd00:ec2::254/128",  # metadata of Amazon's cloud
            "fd20:ce::254/128",  # metadata of Google's cloud
            "ff00::/8",  # multicast
        ),
    )
)
_NAT64 = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48")))


def address_in(text: str) -> Address | None:
    """The IP address that a host is, None if it is a name.

    Forms that only a resolver understands ("127.1", "0x7f000001") are names here and checked once they are resolved.
    """
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _innermost(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, if it does: gateways deliver to that one."""
    if not isinstance(address, IPv6Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if any(address in network for network in _NAT64) or int(address) >> 32 == 0 and int(address) > 1:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_forbidden(address: Address) -> bool:
    """Whether no rule may ever allow an address: link-local, cloud metadata, multicast, unspecified."""
    inner = _innermost(address)
    return any(one in network for one in (address, inner) for network in _FORBIDDEN if network.version == one.version)


def reach_of(address: Address) -> Reach:
    """Where an address leads."""
    inner = _innermost(address)
    if inner.is_loopback:
        return Reach.LOOPBACK
    return Reach.PUBLIC if inner.is_global else Reach.PRIVATE
