"""Manifests of every era of DRA, from v1alpha1 to v1beta2, in the form of v1."""

from dra_planner.manifests.rewriting.rewrite import KeptObject, Rewriting, RewrittenObject, rewrite

__all__ = ["KeptObject", "Rewriting", "RewrittenObject", "rewrite"]
