"""The `check` subcommand, which reports and fixes findings."""
