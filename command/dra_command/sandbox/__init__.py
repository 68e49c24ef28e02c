"""The `sandbox` subcommand, which runs a stack on simulated clouds."""
