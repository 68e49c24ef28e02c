"""Read manifests, fleets, stacks, and snapshots from files, standard input, or a cluster."""
