"""Workflows in KNIME's own on-disk form: written for KNIME to open, read for the embedded runtime to run."""
