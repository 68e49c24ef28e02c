"""Rules of HorizontalPodAutoscalers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.validation.checks import (
    between,
    named,
    needed,
    pointed_choice,
    quantity_not_negative,
    strict_choice,
)
from dra_planner.manifests.validation.fields.formats import dns_label, path_segment
from dra_planner.manifests.validation.pods.resources import check_container_resource_name
from dra_planner.manifests.validation.rules import (
    Check,
    Data,
    Scope,
    StructRules,
    Table,
    check_struct,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    forbidden,
    invalid,
    not_supported,
    required,
)
from dra_planner.releases import Features

# in the order of the server
_SOURCES: Final = ("object", "external", "pods", "resource", "containerResource")
_TYPES: Final = ("Object", "Pods", "Resource", "External", "ContainerResource")
_REFERENCE: Final = "autoscaling.CrossVersionObjectReference"
_TARGETS: Final = ("Utilization", "Value", "AverageValue")
_DECLARED_SINCE: Final = 36  # from this version on, the same errors have different wording
# earlier versions keep one replica, because the feature gate HPAScaleToZero is off
_TO_ZERO_SINCE: Final = 37
# earlier versions drop the field, because HPAConfigurableTolerance is off
_TOLERANCE_SINCE: Final = 35
_MOST_WINDOW: Final = 3600
_MOST_PERIOD: Final = 1800


def check_autoscaler(data: Data, features: Features) -> Violations:
    spec = data.get("spec") or {}
    struct = "autoscaling.HorizontalPodAutoscalerSpec"
    yield from check_struct(spec, struct, "spec", Scope(features=features), _TABLE)


def _check_counts(data: Data, path: str, scope: Scope) -> Violations:
    least, most = data.get("minReplicas"), data.get("maxReplicas") or 0
    least = 1 if least is None else least
    lowest = 0 if scope.minor >= _TO_ZERO_SINCE else 1
    if least < lowest:
        yield invalid(
            f"{path}.minReplicas", int(least), f"must be greater than or equal to {lowest}"
        )
    if scope.minor < _DECLARED_SINCE and most < 1:
        yield invalid(f"{path}.maxReplicas", int(most), "must be greater than 0")
    elif most == 0:
        yield required(f"{path}.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield invalid(f"{path}.maxReplicas", int(most), "must be greater than or equal to 1")
    if most < least:
        yield invalid(
            f"{path}.maxReplicas", int(most), "must be greater than or equal to `minReplicas`"
        )
    if least == 0 and not any(
        (item or {}).get("type") in ("Object", "External") for item in data.get("metrics") or ()
    ):
        detail = (
            "must specify at least one Object or External metric to support scaling to zero "
            "replicas"
        )
        yield forbidden(f"{path}.metrics", detail)


def _check_api_version(data: Data, path: str, scope: Scope) -> Violations:
    version = data.get("apiVersion") or ""
    if version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")


def _check_target(data: Data, path: str, scope: Scope) -> Violations:
    version = (data.get("scaleTargetRef") or {}).get("apiVersion") or ""
    if version.count("/") < 2 and not version.rpartition("/")[0]:
        yield invalid(
            f"{path}.scaleTargetRef.apiVersion", version, "apiVersion must specify API group"
        )
    yield from check_struct(
        data.get("scaleTargetRef") or {}, _REFERENCE, f"{path}.scaleTargetRef", scope, _TABLE
    )


def _check_metric(data: Data, path: str, scope: Scope) -> Violations:
    kind = data.get("type") or ""
    given = [name for name in _SOURCES if data.get(name) is not None]
    expected = kind[:1].lower() + kind[1:] if kind in _TYPES else ""
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    elif expected not in given:
        yield required(
            f"{path}.{expected}", "must populate information for the given metric source"
        )
    if len(given) != 1:
        for name in given:
            if name != expected:
                yield forbidden(f"{path}.{name}", "must populate the given metric source only")


def _first_source(data: Data, scope: Scope) -> Collection[str]:
    return [name for name in _SOURCES if data.get(name) is not None][:1]


def _target(*fields: str, both: str = "") -> Check:
    """Check that exactly one of several fields of the target is set.

    If no field is set, the error is at the first field. If all are set, it's at `both`.
    """

    def check(data: Any, path: str, scope: Scope) -> Violations:
        target, path = data.get("target") or {}, f"{path}.target"
        if all(target.get(name) is None for name in fields):
            yield required(f"{path}.{fields[0]}", "must set a target")
        if both and all(target.get(name) is not None for name in fields):
            yield forbidden(f"{path}.{both}", "may not set two targets")

    return check


def _positive_amount(value: Any, path: str, scope: Scope) -> Violations:
    if value is not None and parse_quantity(value).sign <= 0:
        yield invalid(path, str(value), "must be positive")


def _check_target_type(value: Any, path: str, scope: Scope) -> Violations:
    if not value:
        yield required(path, "must specify a metric target type")
    if value not in _TARGETS:
        yield invalid(path, value or "", "must be either Utilization, Value, or AverageValue")


def _check_policies(data: Data, path: str, scope: Scope) -> Violations:
    if data.get("policies") is not None and not data["policies"]:
        yield required(f"{path}.policies", "must specify at least one Policy")


def _above_zero(most: int | None) -> Check:
    def check(value: Any, path: str, scope: Scope) -> Violations:
        if (value or 0) <= 0:
            yield invalid(path, int(value or 0), "must be greater than zero")
        elif most is not None and value > most:
            yield invalid(path, int(value), f"must be less than or equal to {most}")

    return check


def _check_container_resource(value: Any, path: str, scope: Scope) -> Violations:
    if not value:
        yield required(path, "must specify a resource name")
    else:
        yield from check_container_resource_name(value, path)


def _check_utilization(value: Any, path: str, scope: Scope) -> Violations:
    if value is not None and value < 1:
        yield invalid(path, int(value), "must be greater than 0")


def _check_tolerance(value: Any, path: str, scope: Scope) -> Violations:
    if scope.minor >= _TOLERANCE_SINCE:
        yield from quantity_not_negative(value, path, scope)


_TABLE: Final[Table] = {
    "autoscaling.HorizontalPodAutoscalerSpec": StructRules(
        whole=(_check_counts, _check_target), into=lambda data, scope: ("metrics", "behavior")
    ),
    _REFERENCE: StructRules(
        fields={"kind": named(path_segment), "name": named(path_segment)},
        whole=(_check_api_version,),
    ),
    "autoscaling.HPAScalingRules": StructRules(
        fields={
            "stabilizationWindowSeconds": between(0, _MOST_WINDOW),
            "selectPolicy": pointed_choice("Max", "Min", "Disabled"),
            "tolerance": _check_tolerance,
        },
        whole=(_check_policies,),
    ),
    "autoscaling.HPAScalingPolicy": StructRules(
        fields={
            "type": strict_choice("Pods", "Percent"),
            "value": _above_zero(None),
            "periodSeconds": _above_zero(_MOST_PERIOD),
        }
    ),
    "autoscaling.MetricSpec": StructRules(whole=(_check_metric,), into=_first_source),
    "autoscaling.MetricIdentifier": StructRules(
        fields={"name": named(path_segment)}, into=lambda data, scope: ()
    ),
    "autoscaling.MetricTarget": StructRules(
        fields={
            "type": _check_target_type,
            "value": _positive_amount,
            "averageValue": _positive_amount,
            "averageUtilization": _check_utilization,
        }
    ),
    "autoscaling.ObjectMetricSource": StructRules(
        whole=(_target("averageValue", "value"),), always=("describedObject", "metric", "target")
    ),
    "autoscaling.ExternalMetricSource": StructRules(
        whole=(_target("averageValue", "value", both="value"),), always=("metric", "target")
    ),
    "autoscaling.PodsMetricSource": StructRules(
        whole=(_target("averageValue"),), always=("metric", "target")
    ),
    "autoscaling.ResourceMetricSource": StructRules(
        fields={"name": needed("must specify a resource name")},
        whole=(_target("averageUtilization", "averageValue", both="averageValue"),),
        always=("target",),
    ),
    "autoscaling.ContainerResourceMetricSource": StructRules(
        fields={"name": _check_container_resource, "container": named(dns_label)},
        whole=(_target("averageUtilization", "averageValue", both="averageValue"),),
        always=("target",),
    ),
}
