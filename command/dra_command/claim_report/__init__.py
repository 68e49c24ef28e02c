"""Placement of a claim on a node, for reports of several subcommands."""
