"""Simulated aws, gcp and kubernetes providers.

They know what the real ones accept from the typed SDKs that are installed, and what the real ones do with it from
tables, one row per resource type where there is anything to say.
"""
