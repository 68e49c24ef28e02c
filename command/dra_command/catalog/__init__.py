"""The `catalog` subcommand, which prints rows of the data tables."""
