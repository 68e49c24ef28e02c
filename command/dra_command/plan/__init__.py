"""The subcommand `plan`: plans, saved plans, and comparisons of plans."""
