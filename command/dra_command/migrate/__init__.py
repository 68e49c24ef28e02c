"""The `migrate` subcommand, which replaces device plugin requests with claims."""
