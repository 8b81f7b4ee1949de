"""Runs as HTML pages that need nothing else: one run (`run_page`), or a table of runs (`batch_page`)."""
