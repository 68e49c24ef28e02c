"""Workloads: from objects of many kinds to pods and how many of them there are."""

from dra_planner.manifests.workloads.reader import WorkloadReader

__all__ = ["WorkloadReader"]
