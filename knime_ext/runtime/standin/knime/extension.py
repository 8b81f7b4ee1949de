"""Stands in for `knime.extension` where there is no KNIME.

The host appends the folder two levels up to the end of `sys.path`; a real KNIME, wherever it is on the path, wins.
There is no `knime/__init__.py` here, because it would hide every other part of the namespace package `knime`.
"""

from knime_ext.runtime.knext import *  # noqa: F403
from knime_ext.runtime.knext import __all__  # noqa: F401
