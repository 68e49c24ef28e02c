"""The subcommand `mcp`."""
