"""The `ci` subcommand, which plans and checks a change in a pipeline, and keeps one comment on the
pull request up to date.
"""
