"""The command line `knime-mcp`: it parses, calls a room and prints. Nothing heavy is imported before a command runs."""
