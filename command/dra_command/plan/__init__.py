"""The `plan` subcommand, which creates, saves, and compares plans."""
