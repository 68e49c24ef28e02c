"""Predict a future node's ResourceSlices, as API objects."""

from dra_planner.slices.rendering import UNKNOWN_ANNOTATION, describe_unknown, render_slice

__all__ = ["UNKNOWN_ANNOTATION", "describe_unknown", "render_slice"]
