"""Where IP addresses lead."""

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.mcp.reach import Reach, address_in, is_forbidden, reach_of


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses(address: str):
    assert reach_of(ip_address(address)) is Reach.PUBLIC
    assert not is_forbidden(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.8",
        "172.16.3.4",
        "192.168.1.1",
        "100.64.0.1",
        "fc00::1",
        "::ffff:10.0.0.8",
        "64:ff9b::a00:8",
        "2002:a00:8::",
    ],
)
def test_private_addresses_however_they_are_written(address: str):
    assert reach_of(ip_address(address)) is Reach.PRIVATE


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "::7f00:1"]
)
def test_loopback_addresses_however_they_are_written(address: str):
    assert reach_of(ip_address(address)) is Reach.LOOPBACK


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "::a9fe:a9fe",
        "fe80::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "::",
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
    ],
)
def test_addresses_that_nobody_may_reach(address: str):
    assert is_forbidden(ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_address_is_judged_like_itself(address: object):
    inner = ip_address(str(address))
    for wrapped in (f"::ffff:{inner}", str(ip_address(int(ip_network("64:ff9b::/96")[0]) + int(inner)))):
        assert is_forbidden(ip_address(wrapped)) == is_forbidden(inner)
        assert reach_of(ip_address(wrapped)) is reach_of(inner)


@pytest.mark.parametrize("name", ["example.com", "127.1", "0x7f000001", "2130706433", "localhost"])
def test_what_only_a_resolver_understands_is_a_name(name: str):
    assert address_in(name) is None
