"""The names of the tools that OpenMetadata's MCP server offers, for `include` and `exclude`."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["OpenMetadataTool"]


class OpenMetadataTool(StrEnum):
    """A tool of OpenMetadata's server; a member can be used wherever a tool's name can."""

    SEARCH_METADATA = "search_metadata"
    GET_ENTITY_DETAILS = "get_entity_details"
    GET_ENTITY_LINEAGE = "get_entity_lineage"
    CREATE_GLOSSARY = "create_glossary"
    CREATE_GLOSSARY_TERM = "create_glossary_term"
    PATCH_ENTITY = "patch_entity"
