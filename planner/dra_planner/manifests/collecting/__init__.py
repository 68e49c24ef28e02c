"""Collect accepted objects by subject. Each collection owns one part of the manifests."""
