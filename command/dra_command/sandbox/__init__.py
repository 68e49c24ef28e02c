"""The subcommand `sandbox`: a stack on simulated clouds."""
