"""Texts that lost their indentation, or have typographic signs, as they were meant; only where that is unambiguous."""

from dra_planner.manifests.repairing.repair import Repair, repair

__all__ = ["Repair", "repair"]
