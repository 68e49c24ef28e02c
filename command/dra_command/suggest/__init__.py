"""The subcommand `suggest`: machine types for workloads."""
