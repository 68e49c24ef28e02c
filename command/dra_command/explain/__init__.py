"""The `explain` subcommand, which explains a claim, pod, pool, finding, or message."""
