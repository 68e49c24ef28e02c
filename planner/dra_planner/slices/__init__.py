"""The ResourceSlices that a node will publish, predicted before it exists."""

from __future__ import annotations

from dra_planner.catalog import DriverSettings  # what predict_slices takes
from dra_planner.slices.assumptions import slice_assumptions
from dra_planner.slices.compute_domains import COMPUTE_DOMAIN_DRIVER
from dra_planner.slices.network import NETWORK_DRIVER, network_assumptions, predict_network_slices
from dra_planner.slices.nvidia import GPU_DRIVER
from dra_planner.slices.other_accelerators import NEURON_DRIVER, TPU_DRIVER, predict_accelerator_slices
from dra_planner.slices.prediction import predict_slices
from dra_planner.slices.rendering import UNKNOWN_ANNOTATION, describe_unknown, render_slice
from dra_planner.slices.upgrade import Change, changes_read, compare_releases

__all__ = [
    "COMPUTE_DOMAIN_DRIVER",
    "GPU_DRIVER",
    "NETWORK_DRIVER",
    "NEURON_DRIVER",
    "TPU_DRIVER",
    "UNKNOWN_ANNOTATION",
    "Change",
    "DriverSettings",
    "changes_read",
    "compare_releases",
    "describe_unknown",
    "network_assumptions",
    "predict_accelerator_slices",
    "predict_network_slices",
    "predict_slices",
    "render_slice",
    "slice_assumptions",
]
