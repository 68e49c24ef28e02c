"""The subcommand `portfolio`: collect inputs, compute cells here or elsewhere, cache results, and
report.
"""
