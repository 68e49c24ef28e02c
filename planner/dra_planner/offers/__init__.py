"""What nodes offer to pods and claims: predicted from a fleet, or observed in a cluster; one type for both."""

from dra_planner.offers.allocatable import predict_allocatable
from dra_planner.offers.labels import predict_labels, predict_taints
from dra_planner.offers.model import Deduction, Offer, Origin
from dra_planner.offers.observation import observe_offers
from dra_planner.offers.prediction import predict_offers
from dra_planner.offers.requests import pod_requests

__all__ = [
    "Deduction",
    "Offer",
    "Origin",
    "observe_offers",
    "pod_requests",
    "predict_allocatable",
    "predict_labels",
    "predict_offers",
    "predict_taints",
]
