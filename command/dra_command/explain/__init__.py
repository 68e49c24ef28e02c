"""The subcommand `explain`: reasons for a claim, pod, pool, finding, or message."""
