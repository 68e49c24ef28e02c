"""Configuration files of the tools that make clusters: what of them no longer works, or never
did.
"""
