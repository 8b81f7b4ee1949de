"""The nodes are imported as a host does it: with `knime.extension` on the path."""

from knime_ext.runtime.registry import provide_knime_extension

provide_knime_extension()
