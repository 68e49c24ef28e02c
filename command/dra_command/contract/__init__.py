"""Models that the JSON output of all subcommands shares.

Releases may add fields, but never change them. The schemas in `docs/schema/` are generated from the
contract of each subcommand, which is in the subcommand's folder.
"""
