"""The `suggest` subcommand, which finds machine types for workloads."""
