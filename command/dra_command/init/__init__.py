"""The `init` subcommand, which creates the first files of a project."""
