"""The subcommand `explain`: why a claim, pod, pool, finding, or message is as it is."""
