"""Blockers of pods that wait for a queue, for their group, or for another scheduler."""
