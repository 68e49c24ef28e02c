"""Kueue in a stack: its queues, and the configuration in the values of its release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.sources import Source
from dra_policies.stack.releases import RELEASES, chart_name
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, as_mapping, has_unknown
from dra_policies.view.kueue_versions import KUEUE_VALUE, counts_claims

_QUEUES: Final = "kubernetes:kueue.x-k8s.io/"
_CHART: Final = "kueue"
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
        if each.props.has("valueYamlFiles") is not False or not counts_claims(version):
            continue
        text = each.props.below("values").text(KUEUE_VALUE, "")
        try:
            found = as_mapping(read_yaml(text)[0]) if text else {}
        except Fault:
            continue
        if found is not None:
            yield Source(each.urn, json.dumps({**found, **_CONFIGURATION}))
