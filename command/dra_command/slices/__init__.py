"""The subcommand `slices`: ResourceSlices of a node that does not exist yet."""
