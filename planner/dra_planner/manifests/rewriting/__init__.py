"""Convert manifests of all DRA versions, from v1alpha1 to v1beta2, to v1."""

from dra_planner.manifests.rewriting.rewrite import KeptObject, Rewriting, RewrittenObject, rewrite

__all__ = ["KeptObject", "Rewriting", "RewrittenObject", "rewrite"]
