"""No option of a component relies on omission to switch something off, because providers keep what
is omitted.

The tables of the simulated providers say for each property whether omission changes it. Each option
is declared with a value and without one: a property that only the first declares, and that the
provider keeps, stays on for good.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dra_sandbox.clouds.provider_rules import ProviderRules, read_rules
from pulumi_dra.eks import EksCluster, EksGpuPool
from pulumi_dra.gke import GkeCluster, GkeGpuPool

RULES: Mapping[str, ProviderRules] = {
    token: rules for cloud in ("aws", "gcp") for token, rules in read_rules(cloud).items()
}
KEY = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"
GKE: dict[str, Any] = {
    "kubernetes_version": "1.35",
    "region": "us-central1",
    "security_group": "none",
    "network_id": "net",
    "subnetwork_id": "sub",
    "pods_range_name": "pods",
    "services_range_name": "services",
}
GKE_POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "location": "us-central1",
    "machine": "a4-highgpu-8g",
    "capacity": "reservation",
    "reservation_name": "r",
    "zones": ["us-central1-a"],
    "service_account": "nodes@p.example",
    "max_nodes": 4,
}
EKS_POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "subnet_ids": ["subnet-a"],
    "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
    "machine": "g6.2xlarge",
    "max_nodes": 4,
}
EKS: dict[str, Any] = {"kubernetes_version": "1.35", "subnet_ids": ["subnet-a", "subnet-b"]}
WHOLE = {
    "eks": (EksCluster, EKS),
    "cluster": (GkeCluster, GKE),
    "pool": (GkeGpuPool, GKE_POOL),
    "group": (EksGpuPool, EKS_POOL),
}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "cluster": [
        {"dns_endpoint": True},
        {"global_access": True},
        {"security_group": "gke-security-groups@example.com"},
        {"secrets_kms_key": KEY},
        {"storage_drivers": ["filestore", "gcs-fuse", "lustre"]},
        {"node_local_dns": True},
        {"cloud_dns": True},
        {"monitoring_components": ["DCGM"]},
        {"control_plane_logs": ["APISERVER"]},
        {"public_access_cidrs": ["203.0.113.0/24"]},
        {"deletion_protection": True},
        {"resource_labels": {"team": "ml"}},
    ],
    "pool": [
        {"image_streaming": True},
        {"cpu_manager_policy": "static"},
        {"topology_manager_policy": "best-effort"},
        {"sysctls": {"net.core.somaxconn": "2048"}},
        {"huge_pages_2mi": 16},
        {"network_devices": True},
        {"placement_policy": "near"},
        {"host_maintenance": "PERIODIC"},
        {"disk_iops": 9600, "disk_throughput": 2400},
        {"labels": {"team": "ml"}},
        {"resource_labels": {"team": "ml"}},
        {"secure_boot": False},
        {"auto_upgrade": False},
    ],
    "eks": [
        {"support_type": "STANDARD"},
        {"zonal_shift": True},
        {"control_plane_tier": "tier-xl"},
        {"service_cidr": "172.21.0.0/16"},
        {"deletion_protection": True},
        {"tags": {"team": "ml"}},
    ],
    "group": [
        {"disk_iops": 6000, "disk_throughput": 500},
        {"boot_script": "#!/bin/bash\necho hello\n"},
        {"cpu_manager_policy": "static"},
        {"placement_group": True},
        {"node_repair": True},
        {"update_strategy": "DEFAULT"},
        {"max_unavailable": 2},
        {"force_update": True},
        {"labels": {"team": "ml"}},
        {"tags": {"team": "ml"}},
    ],
}
BESIDE = {"topology_manager_policy": {"cpu_manager_policy": "static"}}
"""Options that have no effect without others."""
KEPT = {
    ("eks", "support_type"): "the cluster keeps the current policy if you remove this input",
    ("eks", "service_cidr"): "Changing this value replaces the cluster",
    ("pool", "disk_iops"): "If you remove this input later, existing disks keep their IOPS",
    ("pool", "sysctls"): "To remove parameters from an existing pool, set an empty mapping",
    ("pool", "huge_pages_2mi"): "If you remove this input later, the nodes keep their pages",
}
"""Options that stay on without their value, each with the sentence of its description that says
so.
"""


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every value below this one, with [*] for elements of lists."""
    yield path if value != "none" else f"{path} off"
    for key, item in value.items() if isinstance(value, dict) else ():
        yield from paths(item, f"{path}.{key}" if path else key)
    for item in value if isinstance(value, list) else ():
        yield from paths(item, f"{path}[*]")


@pytest.mark.parametrize(
    ("what", "option"),
    [
        pytest.param(what, option, id=f"{what}: {next(iter(option))}")
        for what in OPTIONS
        for option in OPTIONS[what]
    ],
)
def test_removed_option_is_disabled(
    declare: Callable[..., Any], what: str, option: dict[str, Any]
) -> None:
    component, usual = WHOLE[what]
    name = next(iter(option))
    needed = {**usual, **BESIDE.get(name, {})}

    def declared(**more: Any) -> dict[tuple[str, str], Any]:
        made = declare(lambda: component("dev", {**needed, **more}))
        return {
            (each.type, each.name): each.inputs for each in made.resources if each.type in RULES
        }

    on, off = declared(**option), declared()
    kept = {
        path
        for key, inputs in on.items()
        for path in set(paths(inputs))
        - {each.removesuffix(" off") for each in paths(off.get(key, inputs))}
        if (rule := RULES[key[0]].properties.get(path)) is not None and rule.omitted == "kept"
    }
    assert bool(kept) is (bool(KEPT.get((what, name)))), kept
    if kept:
        folder = Path(__file__).parents[2] / "components/pulumi_dra"
        texts = (
            re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
            for file in folder.rglob("*_inputs.py")
        )
        assert any(KEPT[what, name] in text for text in texts)
