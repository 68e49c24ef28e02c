"""Kueue in a stack: its queues, and the configuration in the values of its release."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.sources import Source
from dra_policies.stack.releases import RELEASES, chart_name
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, as_mapping, has_unknown

_QUEUES: Final = "kubernetes:kueue.x-k8s.io/"
_CHART: Final = "kueue"
_VALUE: Final = "managerConfig.controllerManagerConfigYaml"
# The first version that counts the devices of claims by default. It never admits a claim whose
# DeviceClass its configuration doesn't map.
# Source: kubernetes-sigs/kueue:pkg/features/kube_features.go@ff69552 (KueueDRAIntegration)
_COUNTS_CLAIMS: Final = (0, 18)
_CONFIGURATION: Final = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


def is_queue(resource: Resource) -> bool:
    """Return whether a resource is a queue, a flavor, or a topology of Kueue."""
    return resource.type.startswith(_QUEUES)


def kueue_configurations(resources: Sequence[Resource]) -> Iterator[Source]:
    """Yield the configuration of each release of Kueue, as the object that Kueue reads. Releases
    with unknown values, and of versions that ignore claims, are left out.
    """
    for each in resources:
        if each.type not in RELEASES or chart_name(each) != _CHART:
            continue
        values, version = each.props.at("values"), each.props.text("version", "")
        if values is UNKNOWN or has_unknown(values) or version is None:
            continue
        if each.props.has("valueYamlFiles") is not False or not _counts_claims(version):
            continue
        text = each.props.below("values").text(_VALUE, "")
        try:
            found = as_mapping(read_yaml(text)[0]) if text else {}
        except Fault:
            continue
        if found is not None:
            yield Source(each.urn, json.dumps({**found, **_CONFIGURATION}))


def _counts_claims(version: str) -> bool:
    parts = re.match(r"v?(\d+)\.(\d+)", version)
    return parts is None or (int(parts[1]), int(parts[2])) >= _COUNTS_CLAIMS
