"""Models shared by the JSON output of all subcommands.

Releases may add fields, but never change them. The schemas in `docs/schema/` are generated from the
contract of each subcommand, which is in the subcommand's folder.
"""
