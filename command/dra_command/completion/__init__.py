"""The subcommand `completion`: scripts that complete words in a shell."""
