"""Signing in at MCP servers: OAuth over the SDK's flows, and where tokens are kept."""

from __future__ import annotations

from knime_ext.mcp.auth.flows import account_of, sign_in_flow
from knime_ext.mcp.auth.login import AccountState, account_state, sign_in, sign_out
from knime_ext.mcp.auth.loopback import LoopbackPerson
from knime_ext.mcp.auth.stores import FileStore, KeyringStore, MemoryStore, system_store

__all__ = [
    "AccountState",
    "FileStore",
    "KeyringStore",
    "LoopbackPerson",
    "MemoryStore",
    "account_of",
    "account_state",
    "sign_in",
    "sign_in_flow",
    "sign_out",
    "system_store",
]
