"""The subcommand `verify`: a cluster compared with its plan."""
