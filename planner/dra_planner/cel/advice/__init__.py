"""Advice for rejected selectors: `fixes` uses the checked tree, and `foreign_syntax` the text that
doesn't parse.
"""
