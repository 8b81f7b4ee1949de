"""The nodes: one file each. Hosts load them through `knime_ext.extension`; nothing is imported here."""
