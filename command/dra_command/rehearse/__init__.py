"""The subcommand `rehearse`: a plan compared with the decisions of the real scheduler."""
