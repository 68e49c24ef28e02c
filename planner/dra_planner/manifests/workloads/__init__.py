"""Read the pods, and the number of pods, of many kinds of workloads."""

from dra_planner.manifests.workloads.reader import WorkloadReader

__all__ = ["WorkloadReader"]
