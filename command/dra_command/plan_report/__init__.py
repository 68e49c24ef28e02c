"""The report of a plan, in every format, for the subcommands that print one."""
