"""What nodes offer to pods and claims: predicted from a fleet, or observed in a cluster; one type for both."""

from dra_planner.offers.allocatable import predict_allocatable
from dra_planner.offers.labels import predict_labels, predict_taints
from dra_planner.offers.model import BoundPod, Deduction, Offer, Origin
from dra_planner.offers.prediction import predict_offers

__all__ = [
    "BoundPod",
    "Deduction",
    "Offer",
    "Origin",
    "predict_allocatable",
    "predict_labels",
    "predict_offers",
    "predict_taints",
]
