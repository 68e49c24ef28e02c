"""Pools and settings that a fleet lacks for its pods."""
