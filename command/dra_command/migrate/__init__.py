"""The subcommand `migrate`."""
