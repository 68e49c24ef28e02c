"""Snapshots of one node with the devices of a driver, and jobs whose pods claim these devices."""

from __future__ import annotations

from typing import Any

import yaml

from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

ROOT = "resource.kubernetes.io/pcieRoot"


def node(name: str, *taints: str) -> dict[str, Any]:
    size = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]},
        "status": {
            "capacity": size,
            "allocatable": size,
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.36.0"},
        },
    }


def published(driver: str, *devices: dict[str, Any], on: str = "n0") -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{on}-{driver}"},
        "spec": {
            "driver": driver,
            "nodeName": on,
            "pool": {"name": on, "generation": 1, "resourceSliceCount": 1},
            "devices": list(devices),
        },
    }


def device(name: str, *, memory: str = "", **attributes: Any) -> dict[str, Any]:
    kinds = {bool: "bool", int: "int", str: "string"}
    listed = {
        key.replace("__", "/"): {kinds[type(value)]: value} for key, value in attributes.items()
    }
    listed = {ROOT if key == "root" else key: value for key, value in listed.items()}
    capacity = {"capacity": {"memory": {"value": memory}}} if memory else {}
    return {"name": name, "attributes": listed, **capacity}


def device_class(driver: str) -> dict[str, Any]:
    selector = {"cel": {"expression": f"device.driver == '{driver}'"}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": driver},
        "spec": {"selectors": [selector]},
    }


def work(
    requests: list[dict[str, Any]], *, pods: int = 1, match: str = "", tolerates: bool = False
) -> list[Any]:
    devices: dict[str, Any] = {"requests": requests}
    if match:
        devices["constraints"] = [
            {"requests": [each["name"] for each in requests], "matchAttribute": match}
        ]
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
        "tolerations": [{"key": "accelerator", "operator": "Exists"}] if tolerates else [],
    }
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t"},
        "spec": {"spec": {"devices": devices}},
    }
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": pod}}
    return [
        template,
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"}, "spec": spec},
    ]


def device_request(name: str, driver: str, selector: str = "", **more: Any) -> dict[str, Any]:
    chosen = {"selectors": [{"cel": {"expression": selector}}]} if selector else {}
    return {"name": name, "exactly": {"deviceClassName": driver, **chosen, **more}}


def planned(observed: list[Any], manifests: list[Any]) -> Plan:
    return make_plan(
        PlanRequest(
            observed=(Source("observed.yaml", yaml.safe_dump_all(observed)),),
            sources=(Source("work.yaml", yaml.safe_dump_all(manifests)),),
        )
    )


def reasons(plan: Plan) -> str:
    return " ".join(
        f"{each.text} → {each.fix}" for workload in plan.workloads for each in workload.reasons
    )


def on_one_node(
    driver: str, devices: list[dict[str, Any]], manifests: list[Any], *taints: str
) -> Plan:
    return planned(
        [node("n0", *taints), published(driver, *devices), device_class(driver)], manifests
    )
