"""The subcommand `diff`: differences between two fleets, plans, stacks, or git refs."""
