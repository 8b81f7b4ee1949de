"""Tool configurations by alias, and a facade for each, made when it is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.closing import Closing
from knime_ext.mcp.facade import MCPFacade
from knime_ext.mcp.lease import Lease
from knime_ext.mcp.pool import SessionPool
from knime_ext.mcp.server_choice import NamedServers, ProviderMap, unknown_provider
from knime_ext.mcp.tool_config import ToolConfig
from knime_ext.tools import Toolset

__all__ = ["MCPRegistry"]


class MCPRegistry(Closing):
    """Gives out facades; all of them share one session per provider.

        with MCPRegistry(providers, [ToolConfig(tool_alias="search", providers=["docs"])]) as registry:
            schemas = registry.get_mcp("search").get_tool_schemas()

    Nothing is connected before a facade is used. A closed registry, and its facades, can be used again.

    Args:
        providers: Registered servers by name; those of the operator if None.
        tool_configs: The configurations.
        wrap: Policies over the tools of each facade, such as `lambda tools: tools.governed_by(policy)`. A tool has its
            name for models there; `wire_name` is the server's.

    Raises:
        ConfigurationError: A configuration names an unknown provider, or two have one alias.
    """

    def __init__(
        self,
        providers: ProviderMap | None = None,
        tool_configs: Iterable[ToolConfig] = (),
        *,
        wrap: Callable[[Toolset], Toolset] | None = None,
    ) -> None:
        self._wrap = wrap
        self._providers = _of_the_operator() if providers is None else providers
        self._configs: dict[str, ToolConfig] = {}
        self._facades: dict[str, MCPFacade] = {}
        self._lock = threading.Lock()
        self._servers = NamedServers(self._providers)
        self._lease = Lease(self._new_pool)
        for config in tool_configs:
            self.register(config)

    @property
    def aliases(self) -> list[str]:
        """The aliases, in the order of registration."""
        return list(self._configs)

    def register(self, config: ToolConfig) -> None:
        """Takes a configuration.

        Raises:
            ConfigurationError: It names an unknown provider, or its alias is taken.
        """
        for name in config.providers:
            if name not in self._providers:
                reason = unknown_provider(name, self._providers)
                raise ConfigurationError(f"tool configuration {config.tool_alias!r}: {reason}")
        if config.tool_alias in self._configs:
            raise ConfigurationError(f"two tool configurations are called {config.tool_alias!r}; rename one of them")
        self._configs[config.tool_alias] = config

    def get_mcp(self, tool_alias: str) -> MCPFacade:
        """The facade of an alias, the same one every time.

        Raises:
            ConfigurationError: No configuration has that alias.
        """
        with self._lock:
            if tool_alias not in self._facades:
                self._facades[tool_alias] = self._new_facade(tool_alias)
            return self._facades[tool_alias]

    def _new_facade(self, alias: str) -> MCPFacade:
        config = self._configs.get(alias)
        if config is None:
            known = ", ".join(map(repr, self._configs)) or "none"
            raise ConfigurationError(f"no tool configuration is called {alias!r}; known are {known}")
        return MCPFacade(
            config, lambda: {name: self._servers[name] for name in config.providers}, self._lease, wrap=self._wrap
        )

    def _new_pool(self) -> SessionPool:
        self._servers = NamedServers(self._providers)
        return SessionPool(self._servers)


def _of_the_operator() -> ProviderMap:
    from knime_ext.mcp.providers import load_providers

    return load_providers()
