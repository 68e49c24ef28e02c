"""Advice for rejected selectors.

`fixes` uses the checked tree, and `foreign_syntax` uses texts that don't parse.
"""
