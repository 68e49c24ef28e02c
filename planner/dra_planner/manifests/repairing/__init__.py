"""Repair texts with lost indentation or typographic characters, if the intended text is
unambiguous.
"""

from dra_planner.manifests.repairing.repair import TextRepair, repair
from dra_planner.manifests.repairing.typography import plain_separator

__all__ = ["TextRepair", "plain_separator", "repair"]
