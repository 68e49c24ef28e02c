"""LimitRanges, with the defaults that the API server fills in.

Source: kubernetes/kubernetes:pkg/apis/core/v1/defaults.go@v1.36.3 (SetDefaults_LimitRangeItem).
"""

from __future__ import annotations

from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import Data, parse_amounts, parse_meta
from dra_planner.model import LimitRange


def parse_limit_range(data: Data, place: Place = NOWHERE) -> LimitRange:
    """Return the limits of a LimitRange for containers and pods. Raises QuantityError for an
    invalid amount.
    """
    most: dict[str, int] = {}
    least: dict[str, int] = {}
    limits: dict[str, int] = {}
    requests: dict[str, int] = {}
    ratios: dict[str, int] = {}
    ratios_of_pod: dict[str, int] = {}
    of_pods: dict[str, dict[str, int]] = {"min": {}, "max": {}}
    for item in (data.get("spec") or {}).get("limits") or ():
        if item.get("type") == "Pod":
            for field, amounts in of_pods.items():
                amounts |= parse_amounts(item.get(field))
            ratios_of_pod |= _thousandths(item.get("maxLimitRequestRatio"))
        if item.get("type") != "Container":
            continue
        ratios |= _thousandths(item.get("maxLimitRequestRatio"))
        most |= parse_amounts(item.get("max"))
        least |= parse_amounts(item.get("min"))
        limits |= {**parse_amounts(item.get("max")), **parse_amounts(item.get("default"))}
        requests |= {
            **parse_amounts(item.get("min")),
            **limits,
            **parse_amounts(item.get("defaultRequest")),
        }
    return LimitRange(
        meta=parse_meta(data.get("metadata"), place),
        default_requests=requests,
        default_limits=limits,
        least=least,
        most=most,
        least_of_pod=of_pods["min"],
        most_of_pod=of_pods["max"],
        ratios=ratios,
        ratios_of_pod=ratios_of_pod,
    )


def _thousandths(ratios: Data | None) -> dict[str, int]:
    """Return ratios in thousandths (like CPU) for every resource."""
    return {name: parse_amounts({"cpu": each})["cpu"] for name, each in (ratios or {}).items()}
