"""The module that KNIME imports (named in knime.yml).

KNIME puts the folder of this module on `sys.path` and imports the module by its bare name. It therefore has to lie
here and not in `knime_ext/`, whose room `mcp` would then hide the package `mcp` of the MCP SDK.
"""

from knime_ext.extension import *  # noqa: F403
