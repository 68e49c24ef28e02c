"""The `rehearse` subcommand, which compares a plan with the decisions of a real scheduler."""
