"""Claims: from workloads to demand, every pod with the claims it brings."""

from dra_planner.claims.expansion import expand_claims

__all__ = ["expand_claims"]
