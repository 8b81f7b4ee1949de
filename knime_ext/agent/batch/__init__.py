"""Whole tables: one piece of work per row, side by side, written down as it finishes."""
