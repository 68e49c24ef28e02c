"""Upgrades of a DRA driver: what changes between two versions, and whether it concerns this
fleet.
"""
