"""The `rules` subcommand, which tests a project's custom rules, and prints the objects that rules
read.
"""
