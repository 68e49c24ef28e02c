"""The `completion` subcommand, which prints shell completion scripts."""
