"""The `ci` subcommand, which plans and checks a change in a pipeline, and updates one comment."""
