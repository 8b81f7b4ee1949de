"""The egress policy: where requests may go, decided in one place for every URL and every hop.

A policy is a value that answers one question. `egress_gate.py` asks it for every connection.

Presets:
    desktop   What a person typed, and registered providers, may lead anywhere, loopback and private addresses
              included; so may the rows of servers that this process has listed. Other rows only lead to public
              addresses over https. Links of a server (redirects, sign-in) lead to public addresses over https, or no
              closer to home than the server itself.
    foreign   For workflows that somebody else has written: what stands in their nodes counts like other rows, and so do
              the rows of servers that such a node has listed.
    server    For shared executors: registered providers only.

Link-local addresses and those of cloud metadata services are out of reach in any case.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, TypeAlias, get_args
from urllib.parse import urlsplit

from knime_ext.errors import ConfigurationError, EgressDenied
from knime_ext.mcp.egress_rules import EgressRule, Target
from knime_ext.mcp.reach import Address, Reach, address_in, is_forbidden, reach_of

__all__ = ["EgressPolicy", "Origin", "Preset"]

Origin: TypeAlias = Literal["typed", "row", "provider", "redirect", "metadata"]
"""Where a URL comes from: a person (in a node, on the command line, in code), a table row, a registered provider, a
redirect, or what a server says about its sign-in."""

Preset: TypeAlias = Literal["desktop", "foreign", "server"]
"""The later, the stricter."""

POLICY_VARIABLE = "KNIME_MCP_POLICY"
PRESET_VARIABLE = "KNIME_MCP_PRESET"
ALLOW_VARIABLE = "KNIME_MCP_ALLOW"

_WORDS: Mapping[Origin, str] = {
    "typed": "an address that was typed in",
    "row": "a row that names a server which this run has not listed",
    "provider": "a registered provider",
    "redirect": "a redirect",
    "metadata": "a server's word about its sign-in",
}
_FOREIGN_WORDS = "an address in a workflow that somebody else has written"
_LINKS = ("redirect", "metadata")
_REACHES = {Reach.PUBLIC: "public", Reach.PRIVATE: "private", Reach.LOOPBACK: "loopback"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressPolicy:
    """Where requests may go.

    Attributes:
        preset: What holds where no rule says otherwise.
        allow: Rules that open more. None opens link-local or metadata addresses.
        deny: Rules that close; they win.
        source: Where the rules stand, for messages.
    """

    preset: Preset = "desktop"
    allow: tuple[EgressRule, ...] = ()
    deny: tuple[EgressRule, ...] = ()
    source: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Self:
        """The policy of this machine: of the file in `KNIME_MCP_POLICY`, opened further by `KNIME_MCP_ALLOW`.

        `KNIME_MCP_PRESET` takes the place of the file's preset if it is stricter.

        Raises:
            ConfigurationError: The file or a rule cannot be read.
        """
        preset, allow, deny, sources = "desktop", [], [], []
        if path := environ.get(POLICY_VARIABLE):
            from knime_ext.mcp.egress_file import read_policy_file

            written = read_policy_file(Path(path))
            preset, sources = written.preset, [f"the policy file {path!r}"]
            allow = [EgressRule.parse(text, sources[0]) for text in written.allow]
            deny = [EgressRule.parse(text, sources[0]) for text in written.deny]
        if wanted := environ.get(PRESET_VARIABLE):
            preset = _stricter(preset, wanted)
        if more := environ.get(ALLOW_VARIABLE, "").replace(",", " ").split():
            sources.append(ALLOW_VARIABLE)
            allow += [EgressRule.parse(text, ALLOW_VARIABLE) for text in more]
        return cls(preset=preset, allow=tuple(allow), deny=tuple(deny), source=" and ".join(sources))

    def trusts(self, origin: Origin) -> bool:
        """Whether somebody who may decide about this machine has chosen addresses of this origin."""
        return origin == "provider" or (origin == "typed" and self.preset != "foreign")

    def check(
        self,
        url: str,
        origin: Origin,
        *,
        address: Address | None = None,
        near: Reach = Reach.PUBLIC,
        is_preview: bool = False,
    ) -> None:
        """Lets a URL pass, or says which rule stops it.

        Args:
            url: An http or https URL.
            origin: Where it comes from.
            address: The address that its host has. A name without one is judged by the name alone.
            near: How close to home links of the server may lead: where the server is itself.
            is_preview: True if the host's address will be checked, too, so that rules on addresses may still apply.

        Raises:
            EgressDenied: It must not be connected to; the message says which rule stops it and how it can be allowed.
        """
        target = Target.of(url)
        address = address or address_in(target.host)
        if address is not None and is_forbidden(address):
            raise self._denied(url, f"{address} is a link-local, metadata or otherwise forbidden address", "never", "")
        for rule in self.deny:
            if rule.matches(target, address):
                raise self._denied(url, f"{self.source} denies {rule.text!r}", "deny", "remove that line")
        if any(rule.matches(target, address) for rule in self.allow):
            return
        reason = self._objection(target, address, origin, near)
        if reason is None or (is_preview and address is None and self._has_address_rules()):
            return
        raise self._denied(url, *reason, self._repair(target, origin))

    def check_program(self, name: str, origin: Origin) -> None:
        """Lets a program be started as a server, or says which rule stops it.

        Raises:
            EgressDenied: It must not be started.
        """
        if self.preset == "server" and origin != "provider":
            raise EgressDenied(
                f"the egress policy (preset 'server', rule 'registered providers only') stops 'stdio:{name}': it is "
                f"{_WORDS[origin]}, and only registered providers may be used; register it as a provider"
            )

    def _objection(
        self, target: Target, address: Address | None, origin: Origin, near: Reach
    ) -> tuple[str, str] | None:
        """What speaks against a target and the name of the rule that says so."""
        if origin == "provider":
            return None
        words = _FOREIGN_WORDS if self.preset == "foreign" and origin == "typed" else _WORDS[origin]
        if self.preset == "server" and origin not in _LINKS:
            return f"it is {words}, and only registered providers may be used", "registered providers only"
        if self.trusts(origin):
            return None
        rule = "links of servers" if origin in _LINKS else "rows" if origin == "row" else "foreign workflows"
        if origin not in _LINKS:
            near = Reach.PUBLIC
        if target.scheme != "https" and near is Reach.PUBLIC:
            return f"it comes from {words}, which must use https", rule
        reach = Reach.LOOPBACK if target.is_this_computer else Reach.PUBLIC if address is None else reach_of(address)
        if reach > near:
            where = f"the {_REACHES[reach]} address {address}" if address is not None else "this computer"
            return f"it comes from {words} and leads to {where}", rule
        return None

    def _has_address_rules(self) -> bool:
        return any(rule.network is not None or rule.reach is not None for rule in self.allow)

    def _repair(self, target: Target, origin: Origin) -> str:
        host = f"[{target.host}]" if ":" in target.host else target.host
        allow = f"allow it with {ALLOW_VARIABLE}={host}:{target.port}"
        if origin == "row" and self.preset == "desktop":
            return f"list that server in this run (MCP Tool Provider), register it as a provider, or {allow}"
        return allow if origin in _LINKS else f"register it as a provider, or {allow}"

    def _denied(self, url: str, reason: str, rule: str, repair: str) -> EgressDenied:
        parts = urlsplit(url)
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        end = f"; {repair}" if repair else "; no setting can allow it"
        return EgressDenied(f"the egress policy (preset {self.preset!r}, rule {rule!r}) stops {shown!r}: {reason}{end}")


def _stricter(preset: Preset, wanted: str) -> Preset:
    order = get_args(Preset)
    if wanted not in order:
        raise ConfigurationError(f"{PRESET_VARIABLE} is {wanted!r}; it takes {', '.join(order)}")
    return order[max(order.index(preset), order.index(wanted))]
