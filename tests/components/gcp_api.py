"""GCP resources as the messages of Google's API clients, which reject unknown fields and enum
values.

This module runs as a separate program (a list of [type, name, inputs] in, a list of answers out),
because Google's clients and Pulumi's engine protocol both register `google.rpc.Status` and can't be
loaded in one process.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import proto
from api_names import Names, renamed
from google.cloud import compute_v1, container_v1, container_v1beta1
from google.protobuf import json_format
from msgspec import Struct

NODE_CONFIG: Names = {
    "guestAccelerators": "accelerators",
    "guestAccelerators.type": "acceleratorType",
    "guestAccelerators.count": "acceleratorCount",
    "linuxNodeConfig.hugepagesConfig": "hugepages",
    "hostMaintenancePolicy": lambda policy: _maintained_hosts(policy),
}


class Message(Struct, frozen=True):
    """The message that creates a resource, and the API's names for the resource's properties."""

    type: type[proto.Message]
    names: Names = {}


def _below(parent: str, names: Names) -> dict[str, Any]:
    return {f"{parent}.{key}": value for key, value in names.items()}


def _maintained_hosts(policy: dict[str, Any]) -> dict[str, Any]:
    """Return nothing, because host maintenance exists only in the beta API, which Pulumi's provider
    uses.
    """
    json_format.ParseDict(policy, container_v1beta1.HostMaintenancePolicy.pb()())
    return {}


def _maintenance(policy: dict[str, Any]) -> dict[str, Any]:
    """Return the policy inside its window, and with exclusions keyed by name instead of Pulumi's
    list.
    """
    names = {"exclusionOptions": "maintenanceExclusionOptions"}
    by_name = {
        item.get("exclusionName", ""): {
            names.get(key, key): value for key, value in item.items() if key != "exclusionName"
        }
        for item in policy.get("maintenanceExclusions", [])
    }
    others = {key: value for key, value in policy.items() if key != "maintenanceExclusions"}
    if window := others.get("recurringWindow"):
        span = {key: value for key, value in window.items() if key != "recurrence"}
        others["recurringWindow"] = {"recurrence": window.get("recurrence"), "window": span}
    return {"maintenancePolicy": {"window": {**others, "maintenanceExclusions": by_name}}}


MESSAGES: dict[str, Message] = {
    "gcp:container/cluster:Cluster": Message(
        container_v1.Cluster,
        {
            **_below("nodeConfig", NODE_CONFIG),
            "nodeLocations": "locations",
            "minMasterVersion": "initialClusterVersion",
            "networkingMode": lambda mode: {
                "ipAllocationPolicy": {"useIpAliases": mode == "VPC_NATIVE"}
            },
            "datapathProvider": "networkConfig.datapathProvider",
            "dnsConfig": "networkConfig.dnsConfig",
            "enableIntranodeVisibility": "networkConfig.enableIntraNodeVisibility",
            "enableShieldedNodes": "shieldedNodes.enabled",
            "enableLegacyAbac": "legacyAbac.enabled",
            "loggingConfig.enableComponents": "componentConfig.enableComponents",
            "monitoringConfig.enableComponents": "componentConfig.enableComponents",
            "monitoringConfig.managedPrometheus": "managedPrometheusConfig",
            # Only the provider uses these settings: it deletes the first pool, and rejects the
            # deletion of the cluster.
            "removeDefaultNodePool": None,
            "deletionProtection": None,
            "maintenancePolicy": _maintenance,
        },
    ),
    "gcp:container/nodePool:NodePool": Message(
        container_v1.NodePool,
        {
            **_below("nodeConfig", NODE_CONFIG),
            "nodeConfig": "config",
            "nodeCount": "initialNodeCount",
            "maxPodsPerNode": "maxPodsConstraint.maxPodsPerNode",
            "nodeLocations": "locations",
            # This value is part of the request, not of the pool: CreateNodePoolRequest.parent.
            "cluster": None,
            "location": None,
        },
    ),
    "gcp:compute/network:Network": Message(
        compute_v1.Network, {"routingMode": "routingConfig.routingMode"}
    ),
    "gcp:compute/subnetwork:Subnetwork": Message(compute_v1.Subnetwork),
    "gcp:compute/firewall:Firewall": Message(
        compute_v1.Firewall, {"denies": "denied", "denies.protocol": "IPProtocol"}
    ),
    "gcp:compute/router:Router": Message(compute_v1.Router),
    "gcp:compute/routerNat:RouterNat": Message(
        compute_v1.RouterNat,
        {
            "subnetworks.sourceIpRangesToNats": "sourceIpRangesToNat",
            # A NAT is a part of its router, and is found through the router.
            "router": None,
            "region": None,
        },
    ),
}


class RefusedMessage(Exception):
    """The API rejects the message. The text contains the unknown field or value."""


def message(kind: str, name: str, inputs: Mapping[str, Any]) -> proto.Message:
    """Return the message that creates a resource. Raise RefusedMessage for a message that the API
    rejects.
    """
    wanted = MESSAGES[kind]
    try:
        document = renamed(inputs, wanted.names)
        raw = json_format.ParseDict(document, wanted.type.pb()())
    except json_format.ParseError as error:
        raise RefusedMessage(f"{kind} {name}: {error}") from error
    built = wanted.type.wrap(raw)
    faults = list(_unknown_values(wanted.type, document, ""))
    if faults:
        raise RefusedMessage(f"{kind} {name}: {'; '.join(faults)}")
    return built


def _unknown_values(
    kind: type[proto.Message], document: Mapping[str, Any], path: str
) -> Iterator[str]:
    """Yield invalid enum values for APIs that send enums as text, such as Compute Engine.

    In that case, the message class contains the values in addition to its fields, under the field's
    name.
    """
    fields = {
        re.sub(r"_(\w)", lambda m: m[1].upper(), name.rstrip("_")): f
        for name, f in kind.meta.fields.items()
    }
    for key, value in document.items():
        declared = fields.get(key)
        if declared is None:
            continue
        values = value if isinstance(value, list) else [value]
        known = getattr(kind, key[0].upper() + key[1:], None)
        if isinstance(known, type) and issubclass(known, proto.Enum) and not declared.enum:
            yield from (
                f"{path}{key}: {item!r} is none of {', '.join(known.__members__)}"
                for item in values
                if item not in known.__members__
            )
        if isinstance(declared.message, type) and issubclass(declared.message, proto.Message):
            for item in values:
                if isinstance(item, Mapping):
                    yield from _unknown_values(declared.message, item, f"{path}{key}.")


def answer(kind: str, name: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message with enums by name, or the reason why it was rejected."""
    try:
        built = message(kind, name, inputs)
    except RefusedMessage as error:
        return {"refused": str(error)}
    return {"built": MESSAGES[kind].type.to_dict(built, use_integers_for_enums=False)}


if __name__ == "__main__":
    json.dump([answer(*case) for case in json.load(sys.stdin)], sys.stdout)
