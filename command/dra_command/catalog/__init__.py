"""The subcommand `catalog`: rows of the tables, as tables or JSON."""
