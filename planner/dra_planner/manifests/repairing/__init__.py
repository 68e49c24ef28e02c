"""Texts that lost their indentation, or have typographic signs, as they were meant; only where that
is unambiguous.
"""

from dra_planner.manifests.repairing.repair import TextRepair, repair
from dra_planner.manifests.repairing.typography import plain_separator

__all__ = ["TextRepair", "plain_separator", "repair"]
