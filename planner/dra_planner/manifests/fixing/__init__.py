"""Mechanical repairs of manifests: the text changes where it must, and keeps every other
character.
"""

from dra_planner.manifests.fixing.fix import Fixed, LineRepair, add_tolerations, fix_values

__all__ = ["Fixed", "LineRepair", "add_tolerations", "fix_values"]
