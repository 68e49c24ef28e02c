"""The `mcp` subcommand, which offers the commands to AI agents."""
