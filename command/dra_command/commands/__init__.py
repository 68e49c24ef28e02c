"""One module per subcommand, each with `run(values) -> exit status`; loaded when it is called."""
