"""Upgrades of a DRA driver: changes between two versions, and whether they affect this fleet."""
