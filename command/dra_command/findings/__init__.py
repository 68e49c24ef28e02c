"""Findings in manifests, pages, and older versions of files, with baselines and exemptions."""
