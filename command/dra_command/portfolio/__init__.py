"""The `portfolio` subcommand, which plans many stacks in many scenarios."""
