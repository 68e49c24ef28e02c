"""Predicted ResourceSlices of a node that does not exist yet, as API objects."""

from dra_planner.slices.rendering import UNKNOWN_ANNOTATION, describe_unknown, render_slice

__all__ = ["UNKNOWN_ANNOTATION", "describe_unknown", "render_slice"]
