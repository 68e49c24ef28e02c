"""Blockers that depend on the drivers of requested devices."""
