"""Signing in at MCP servers: OAuth over the SDK's flows, and where tokens are kept."""

from __future__ import annotations

from knime_ext.mcp.auth.flows import account_of, sign_in_flow
from knime_ext.mcp.auth.loopback import LoopbackPerson
from knime_ext.mcp.auth.stores import FileStore, KeyringStore, MemoryStore, system_store

__all__ = [
    "FileStore",
    "KeyringStore",
    "LoopbackPerson",
    "MemoryStore",
    "account_of",
    "sign_in_flow",
    "system_store",
]
