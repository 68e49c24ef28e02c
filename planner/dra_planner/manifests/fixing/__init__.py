"""Automatic repairs of manifests, which keep all text that doesn't need to change."""

from dra_planner.manifests.fixing.fix import Fixed, LineRepair, add_tolerations, fix_values

__all__ = ["Fixed", "LineRepair", "add_tolerations", "fix_values"]
