"""Accepted objects by subject: each collection owns one part of the manifests."""
