"""Code mode: a model writes Python that calls tools as functions, in a sandbox. See docs/code-mode.md."""
