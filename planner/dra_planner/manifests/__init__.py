"""Read manifests in the same way as the API server and the controllers."""

from dra_planner.manifests.manifests import BoundPod, Manifests, UnresolvedPods, selectors_of
from dra_planner.manifests.parsing.claims import (
    parse_claim,
    parse_claim_spec,
    parse_claim_template,
    parse_device_class,
)
from dra_planner.manifests.parsing.nodes import parse_node
from dra_planner.manifests.parsing.pods import parse_pod_spec, parse_pod_template
from dra_planner.manifests.parsing.slices import parse_slice
from dra_planner.manifests.reading import read_manifests
from dra_planner.manifests.rendering.claims import (
    render_claim,
    render_claim_spec,
    render_device_class,
)
from dra_planner.manifests.rendering.pods import render_pod_spec, render_pod_template
from dra_planner.manifests.rendering.slices import render_node, render_slice
from dra_planner.manifests.validation.context import SelectorRefusal
from dra_planner.manifests.workloads.volume_zones import NEEDS_DEFAULT_CLASS, STORAGE_CLASS

__all__ = [
    "NEEDS_DEFAULT_CLASS",
    "STORAGE_CLASS",
    "BoundPod",
    "Manifests",
    "SelectorRefusal",
    "UnresolvedPods",
    "parse_claim",
    "parse_claim_spec",
    "parse_claim_template",
    "parse_device_class",
    "parse_node",
    "parse_pod_spec",
    "parse_pod_template",
    "parse_slice",
    "read_manifests",
    "render_claim",
    "render_claim_spec",
    "render_device_class",
    "render_node",
    "render_pod_spec",
    "render_pod_template",
    "render_slice",
    "selectors_of",
]
