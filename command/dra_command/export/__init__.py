"""The `export` subcommand, which converts a fleet to files for other tools."""
