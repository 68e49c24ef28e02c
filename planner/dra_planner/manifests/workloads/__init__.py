"""Workloads: read the pods of many kinds of objects, and their numbers."""

from dra_planner.manifests.workloads.reader import WorkloadReader

__all__ = ["WorkloadReader"]
