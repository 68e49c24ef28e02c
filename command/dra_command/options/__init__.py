"""The options of each subcommand: a module with `add_options` each, loaded when the command line names it."""
