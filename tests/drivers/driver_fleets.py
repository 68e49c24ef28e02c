"""Fleets of one pool with some drivers, and jobs whose pods claim their devices."""

from __future__ import annotations

from typing import Any

import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CLOUDS: dict[str, dict[str, Any]] = {
    "eks": {
        "region": "us-east-2",
        "network": {"zones": ["us-east-2a"]},
        "systemPool": {"machine": "m7i.large"},
    },
    "gke": {"region": "us-central1", "systemPool": {"machine": "e2-standard-4"}},
    "aks": {"region": "centralus", "systemPool": {"machine": "Standard_D4s_v5"}},
}


def fleet(cloud: str, machine: str, drivers: dict[str, Any], most: int = 4) -> dict[str, Any]:
    pool = {"name": "pool", "machine": machine, "count": {"min": 0, "max": most}}
    return {
        "cloud": cloud,
        "kubernetes": "1.36",
        **CLOUDS[cloud],
        "drivers": drivers,
        "pools": [pool],
    }


def request(name: str, device_class: str, count: int | str, selector: str = "") -> dict[str, Any]:
    many = {"allocationMode": "All"} if count == "All" else {"count": count}
    chosen = {"selectors": [{"cel": {"expression": selector}}]} if selector else {}
    return {"name": name, "exactly": {"deviceClassName": device_class, **many, **chosen}}


def job(pods: int, *requests: dict[str, Any], match: str = "", tolerates: str = "") -> str:
    together = {
        "constraints": [{"requests": [each["name"] for each in requests], "matchAttribute": match}]
    }
    devices = {"requests": list(requests), **(together if match else {})}
    pod = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "main",
                "image": "registry.example/work:1",
                "resources": {"claims": [{"name": "d"}]},
            }
        ],
        "resourceClaims": [{"name": "d", "resourceClaimTemplateName": "t"}],
        "tolerations": [{"key": tolerates, "operator": "Exists"}] if tolerates else [],
    }
    return yaml.safe_dump_all(
        [
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceClaimTemplate",
                "metadata": {"name": "t"},
                "spec": {"spec": {"devices": devices}},
            },
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "work"},
                "spec": {"parallelism": pods, "completions": pods, "template": {"spec": pod}},
            },
        ]
    )


def planned(document: dict[str, Any], manifests: str) -> Plan:
    return make_plan(
        PlanRequest(fleet=read_fleet(document), sources=(Source("work.yaml", manifests),))
    )


def nodes(plan: Plan) -> int:
    return plan.pools[0].nodes.desired


def reasons(plan: Plan) -> str:
    return " ".join(
        f"{each.message} {each.fix}" for workload in plan.workloads for each in workload.reasons
    )
