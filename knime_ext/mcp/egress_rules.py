"""Rules on addresses, as operators write them: an origin, a host, a pattern of hosts, a network. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Self
from urllib.parse import urlsplit

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.reach import Address, Reach, reach_of

__all__ = ["EgressRule", "Target"]

_PORTS = {"http": 80, "https": 443}
_WORDS = {"loopback": Reach.LOOPBACK, "private": Reach.PRIVATE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a request goes: scheme, host (lower case, without brackets) and port."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Self:
        """The target of a URL.

        Raises:
            ValueError: The URL has no host, or no usable port.
        """
        parts = urlsplit(url)
        if not parts.hostname:
            raise ValueError(f"{url!r} has no host")
        scheme = parts.scheme.lower()
        host = parts.hostname.rstrip(".")
        return cls(scheme=scheme, host=host, port=parts.port or _PORTS.get(scheme, 0))

    @property
    def is_this_computer(self) -> bool:
        """Whether the name alone says that it is the loopback interface (RFC 6761)."""
        return self.host == "localhost" or self.host.endswith(".localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressRule:
    """One rule.

    Attributes:
        text: The rule as it was written.
        network: The addresses that it is about, or None.
        reach: The kind of addresses that it is about, or None.
        scheme: http or https, or "" for both.
        host: Pattern of host names, with `*` and `?`.
        port: The port, or None for any.
    """

    text: str
    network: IPv4Network | IPv6Network | None = None
    reach: Reach | None = None
    scheme: str = ""
    host: str = ""
    port: int | None = None

    @classmethod
    def parse(cls, text: str, source: str) -> Self:
        """Reads a rule.

        Args:
            text: `https://host:port`, `host`, `host:port`, `*.example.com`, `10.0.0.0/8`, `loopback` or `private`.
            source: Where it stands, for the error.

        Raises:
            ConfigurationError: It is none of these.
        """
        text = text.strip()
        if text.lower() in _WORDS:
            return cls(text=text, reach=_WORDS[text.lower()])
        try:
            return cls(text=text, network=ip_network(text.strip("[]")))
        except ValueError:
            pass
        try:
            return cls._of_host(text)
        except ValueError:
            raise ConfigurationError(
                f"{source}: {text!r} is no rule on addresses; write a host ('mcp.example.com', '*.example.com'), a "
                "host with its port ('localhost:8000'), an origin ('https://mcp.example.com'), a network "
                "('10.0.0.0/8'), 'loopback' or 'private'"
            ) from None

    @classmethod
    def _of_host(cls, text: str) -> Self:
        has_scheme = "://" in text
        parts = urlsplit(text if has_scheme else f"//{text}")
        scheme = parts.scheme.lower()
        if not parts.hostname or parts.path not in ("", "/") or parts.query or "@" in parts.netloc or " " in text:
            raise ValueError(text)
        if has_scheme and scheme not in _PORTS:
            raise ValueError(text)
        port = parts.port or (_PORTS[scheme] if has_scheme else None)
        return cls(text=text, scheme=scheme, host=parts.hostname.rstrip("."), port=port)

    def matches(self, target: Target, address: Address | None) -> bool:
        """Whether the rule is about this target.

        Args:
            target: Where a request goes.
            address: The IP address that the host has, None as long as it is unknown.
        """
        if self.reach is not None:
            return address is not None and reach_of(address) is self.reach
        if self.network is not None:
            return address is not None and address.version == self.network.version and address in self.network
        return (
            fnmatchcase(target.host, self.host)
            and self.scheme in ("", target.scheme)
            and self.port in (None, target.port)
        )
