"""The subcommand `init`: the first files of a project."""
