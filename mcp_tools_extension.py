"""The module that KNIME imports (named in knime.yml).

KNIME puts the folder of this module on `sys.path` and imports the module by its bare name. It therefore has to lie
here and not in `knime_ext/`, whose rooms `mcp/` and `types/` would then hide the packages of those names.
"""

from knime_ext.extension import *  # noqa: F403
