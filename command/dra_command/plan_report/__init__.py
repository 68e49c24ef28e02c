"""A plan's report in every format, for all subcommands that print plans."""
