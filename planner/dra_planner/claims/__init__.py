"""Expand workloads into a demand that contains the claims of every pod."""

from dra_planner.claims.expansion import expand_claims
from dra_planner.claims.extended_resources import extended_resources
from dra_planner.claims.quotas import QuotaRoom

__all__ = ["QuotaRoom", "expand_claims", "extended_resources"]
