"""Input of all subcommands: manifests, fleets, stacks, and snapshots, read from files, standard
input, or a cluster.
"""
