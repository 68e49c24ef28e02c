"""Models that the JSON answers of all subcommands share. Fields are added, never changed.

The published schemas in `docs/schema/` are made from the contract of each subcommand, in its own
folder.
"""
