"""The subcommand `rehearse`: a plan next to what the real scheduler did."""
