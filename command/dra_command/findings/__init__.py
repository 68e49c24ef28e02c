"""Findings of the rules in manifests, pages, and older versions; baselines and exemptions."""
