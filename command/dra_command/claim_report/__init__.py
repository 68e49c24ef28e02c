"""How a claim fits on a node, for reports of several subcommands."""
