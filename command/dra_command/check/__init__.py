"""The subcommand `check`: findings of the rules, in every format, and their repair."""
