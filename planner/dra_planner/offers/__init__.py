"""Devices and resources of nodes, predicted from a fleet or observed in a cluster."""

from __future__ import annotations

from dra_planner.clouds import AllocatableSettings
from dra_planner.offers.allocatable import predict_allocatable
from dra_planner.offers.catalog_rows import CatalogRow, rows_to_add
from dra_planner.offers.contested_devices import ContestedDevices, contested_devices
from dra_planner.offers.installed_drivers import verify_classes, verify_driver
from dra_planner.offers.labels import predict_labels, predict_taints
from dra_planner.offers.nodes import PredictedNode, nodes_of
from dra_planner.offers.observation import observe_offers
from dra_planner.offers.offer import Deduction, Offer, Origin
from dra_planner.offers.prediction import (
    SYSTEM_POOL,
    node_price,
    node_settings,
    predict_offers,
    predict_system_offer,
)
from dra_planner.offers.requests import pod_requests
from dra_planner.offers.taint_rules import with_taint_rules
from dra_planner.offers.verification import NodeDifference, Verification, verify_offers

__all__ = [
    "SYSTEM_POOL",
    "AllocatableSettings",
    "CatalogRow",
    "ContestedDevices",
    "Deduction",
    "NodeDifference",
    "Offer",
    "Origin",
    "PredictedNode",
    "Verification",
    "contested_devices",
    "node_price",
    "node_settings",
    "nodes_of",
    "observe_offers",
    "pod_requests",
    "predict_allocatable",
    "predict_labels",
    "predict_offers",
    "predict_system_offer",
    "predict_taints",
    "rows_to_add",
    "verify_classes",
    "verify_driver",
    "verify_offers",
    "with_taint_rules",
]
