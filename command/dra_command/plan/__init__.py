"""The `plan` subcommand, which makes, saves, and compares plans."""
