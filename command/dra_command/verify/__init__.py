"""The `verify` subcommand, which compares a cluster with its plan."""
