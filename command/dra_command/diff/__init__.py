"""The `diff` subcommand, which compares two fleets, plans, stacks, or git refs."""
