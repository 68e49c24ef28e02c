"""Charts that Argo CD or Flux installs → releases with the same chart, version, and values.

Sources: argoproj/argo-cd:pkg/apis/application/v1alpha1/types.go (ApplicationSource,
ApplicationSourceHelm: parameters replace valuesObject, which replaces values);
fluxcd/helm-controller:api/v2/helmrelease_types.go (HelmReleaseSpec).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from dra_policies.stack.forms.value_files import VALUE_FILES, merged_values, nested, values_in
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping, has_unknown

ARGO: Final = "kubernetes:argoproj.io/v1alpha1:Application"
FLUX: Final = "kubernetes:helm.toolkit.fluxcd.io/v2:HelmRelease"
_FLUX: Final = re.compile(r"kubernetes:helm\.toolkit\.fluxcd\.io/v2\w*:HelmRelease")
_OWN_CLUSTER: Final = "https://kubernetes.default.svc"
_DOT: Final = re.compile(r"(?<!\\)\.")


def release_of_application(resource: Resource) -> Resource:
    """Return the release that an Application or a HelmRelease installs, under the resource's own
    type. Other resources don't change.
    """
    props = None
    if resource.type == ARGO:
        props = _of_argo(resource.props)
    elif _FLUX.fullmatch(resource.type):
        props = _of_flux(resource.props)
    if props is None:
        return resource
    known = {**resource.props.values, **props}
    return replace(resource, type=ARGO if resource.type == ARGO else FLUX, props=Properties(known))


def _of_argo(props: Properties) -> dict[str, Any] | None:
    destination = props.below("spec.destination")
    if destination.text("server") != _OWN_CLUSTER and destination.text("name") != "in-cluster":
        return None
    for source in (props.below("spec.source"), *(props.items("spec.sources") or ())):
        chart = source.at("chart")
        if chart is None:
            continue
        helm = source.below("helm")
        layers = [
            values_in(text) if (text := helm.text("values")) else {},
            as_mapping(helm.below("valuesObject").values),
            *_parameters(helm),
        ]
        return _release(
            chart,
            source.at("targetRevision"),
            props.at("spec.destination.namespace"),
            layers,
            has_files=helm.has("valueFiles") is not False or helm.at("values") is UNKNOWN,
        )
    return None


def _parameters(helm: Properties) -> Iterator[Mapping[str, Any] | None]:
    """Yield the values of `--set` parameters, each as one layer."""
    for each in helm.items("parameters") or ():
        name, value = each.text("name"), each.at("value")
        if name and "[" not in name:
            keys = [key.replace("\\.", ".") for key in _DOT.split(name)]
            typed = each.flag("forceString", False) is not True
            yield nested(keys, _typed(value) if typed else value)
        else:
            yield None


def _typed(value: Any) -> Any:
    """Return a parameter's value with the type that `--set` gives it."""
    words = {"true": True, "false": False, "null": None}
    return words.get(value, value) if isinstance(value, str) else value


def _of_flux(props: Properties) -> dict[str, Any] | None:
    chart = props.below("spec.chart.spec")
    if chart.at("chart") is None:
        return None
    namespace = props.at("spec.targetNamespace")
    return _release(
        chart.at("chart"),
        chart.at("version"),
        props.at("metadata.namespace") if namespace is None else namespace,
        [as_mapping(props.below("spec.values").values)],
        has_files=props.has("spec.valuesFrom") is not False,
    )


def _release(
    chart: Any,
    version: Any,
    namespace: Any,
    layers: list[Mapping[str, Any] | None],
    *,
    has_files: bool,
) -> dict[str, Any]:
    """Return the properties of a release. Values in other objects or files aren't known."""
    known = not has_files and None not in layers
    values = merged_values(*(each or {} for each in layers))
    return {
        "chart": chart,
        "version": version,
        "namespace": namespace,
        "values": values,
        **({} if known or has_unknown(chart) else {VALUE_FILES: UNKNOWN}),
    }
