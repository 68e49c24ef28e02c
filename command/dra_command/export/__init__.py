"""The subcommand `export`."""
