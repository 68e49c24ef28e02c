"""The `slices` subcommand, which prints a future node's ResourceSlices."""
