"""Determine the declarations of a platform inside its cluster: objects and releases, in order."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pulumi
import yaml
from msgspec import Struct
from pulumi.runtime import mocks

from dra_planner.clouds import cloud
from dra_planner.drivers.nvidia import device_plugin_releases, driver_releases
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from pulumi_dra.platform.platform import DraPlatform

PROJECT: Final = Path(__file__).parents[2]
_OTHER_DRIVERS: Final = PROJECT / "conformance" / "scheduler" / "driver_cases.yaml"
"""The machine types of each cloud that have devices of each driver."""
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_CA: Final = base64.b64encode(b"ca").decode()
_WEBHOOK: Final = {"webhook": True, "webhook_tls": {"secret_name": "webhook", "ca_bundle": _CA}}

_RELEASES: Final = {"gpu_metrics": {}, "kueue": {}, "kube_ray": {}}
_EXPORTER: Final = {"dcgm-exporter": {"cpu": "100m", "memory": "128Mi"}}
_OPERATOR: Final = {"driver_root": "/run/nvidia/driver"}
_IDS: Final = {"Subnet": "subnet-0123456789abcdef0", "SecurityGroup": "sg-0123456789abcdef1"}
"""IDs in the form that Karpenter's objects require."""


class Case(Struct, frozen=True):
    """A fleet with a version of the driver, a version of the device plugin, and platform
    options.
    """

    name: str
    fleet: Fleet
    options: dict[str, Any]


class Declared(Struct, frozen=True):
    """One Kubernetes resource: its type and its inputs."""

    type: str
    name: str
    inputs: dict[str, Any]


def example_fleets() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every fleet of this repository, with its name."""
    for path in sorted((PROJECT / "stacks").glob("Pulumi.*.yaml")):
        yield (
            path.name.split(".")[1],
            yaml.safe_load(path.read_text(encoding="utf-8"))["config"]["pulumi-dra:fleet"],
        )
    for path in sorted((PROJECT / "examples").glob("*/stacks/Pulumi.*.yaml")):
        document = yaml.safe_load(path.read_text(encoding="utf-8"))["config"]["pulumi-dra:fleet"]
        yield f"{path.parts[-3]}-{path.name.split('.')[1]}", document
    for path in sorted((PROJECT / "examples").glob("*/fleet.yaml")):
        yield path.parent.name, yaml.safe_load(path.read_text(encoding="utf-8"))


def cases(minor: int, only: str = "", releases: tuple[str, ...] = ()) -> Iterator[Case | str]:
    """Yield every case for a minor version. If a fleet doesn't support a driver version, yield a
    sentence instead.
    """
    drivers = [each.version for each in driver_releases() if each.is_installable]
    plugins = [each.version for each in device_plugin_releases()]
    for name, document in example_fleets():
        if only and name != only:
            continue
        for number, version in enumerate(drivers):
            if releases and version not in releases:
                continue
            changed = copy.deepcopy(document)
            changed["kubernetes"] = f"1.{minor}"
            changed["drivers"]["nvidia"]["version"] = version
            # otherwise, the cloud runs its own device plugin
            if not cloud(changed["cloud"]).no_device_plugin_label:
                changed["devicePlugin"] = {"version": plugins[number % len(plugins)]}
            for autoscaler in cloud(changed["cloud"]).autoscalers:
                title = f"{name}, driver {version}, {autoscaler}"
                try:
                    fleet = read_fleet(_with(changed, autoscaler))
                except PlannerError as error:
                    yield f"{title}: {str(error).splitlines()[0]}"
                    continue
                yield Case(title, fleet, {})
                # the options of these fleets don't work with the driver version
                if not number and autoscaler == "none":
                    counted = {**changed.get("daemonPods", {}), **_EXPORTER}
                    counted_fleet = read_fleet(
                        _with({**changed, "daemonPods": counted}, autoscaler)
                    )
                    yield Case(f"{title}, with metrics, queues and Ray", counted_fleet, _RELEASES)
                if autoscaler != "none" or cloud(fleet.cloud).no_device_plugin_label:
                    continue
                yield Case(f"{title}, next to a GPU Operator", fleet, {"driver": _OPERATOR})
                if number:  # the first version doesn't have these options
                    yield Case(f"{title}, with its webhook", fleet, {"driver": _WEBHOOK})


def cases_of_other_drivers(minor: int) -> Iterator[Case]:
    """For each other driver that a fleet can install, yield a fleet on each cloud with machine
    types for it.
    """
    table = yaml.safe_load(_OTHER_DRIVERS.read_text(encoding="utf-8"))
    for name, row in table["drivers"].items():
        if name == "nvidia" or "learned" in row:
            continue
        for of_cloud, machines in row["machines"].items():
            facts = table["clouds"][of_cloud]
            fleet = {
                "cloud": of_cloud,
                "region": facts["region"],
                "kubernetes": f"1.{minor}",
                "endpoint": {"publicAccessCidrs": ["198.51.100.0/24"]},
                "network": {"zones": [facts["zone"]]},
                "systemPool": {"machine": facts["system"]},
                "drivers": {name: row.get("options", True)},
                "pools": [{"name": "p", "machine": machines[0], "count": {"min": 0, "max": 2}}],
            }
            yield Case(f"driver {name} on {of_cloud}", read_fleet(fleet), {})


def _with(document: dict[str, Any], autoscaler: str) -> dict[str, Any]:
    """Return the fleet with an autoscaler. With Karpenter, each pool is in a single zone."""
    changed = {**copy.deepcopy(document), "autoscaler": autoscaler}
    for pool in changed["pools"] if autoscaler == "karpenter" else ():
        pool["zones"] = pool.get("zones", [])[:1] or [f"{changed['region']}a"]
        pool.pop("schedule", None)
    if autoscaler != "none":
        for pool in changed["pools"]:
            pool.pop("schedule", None)
    return changed


def declared_in(case: Case) -> list[Declared]:
    """Return the declarations of a case's platform in its cluster."""
    plan = canonical_text(plan_file(make_plan(PlanRequest(sources=(), fleet=case.fleet))))
    needed = yaml.safe_load((Path(__file__).parent / "clouds.yaml").read_text(encoding="utf-8"))
    options = {**needed.get(case.fleet.cloud, {}), **case.options}
    recorder = _Cloud(case.fleet)
    pulumi.runtime.set_mocks(recorder, project="charts", stack="dev", preview=False)

    @pulumi.runtime.test
    def body() -> None:
        DraPlatform("dra", {"plan": plan, **options})  # type: ignore[typeddict-item]  # options are spread

    body()
    return recorder.found


class _Cloud(mocks.Mocks):
    """Responds to the queries of charts and objects about a cloud, and stores the declarations in
    the cluster.
    """

    def __init__(self, fleet: Fleet) -> None:
        self.found: list[Declared] = []
        self._region = fleet.region

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        if args.typ.startswith("kubernetes:"):
            self.found.append(Declared(args.typ, args.name, copy.deepcopy(dict(args.inputs))))
        made: dict[str, Any] = {
            "name": args.name,
            "arn": f"arn:aws:service:{self._region}:111122223333:kind/{args.name}",
            "url": f"https://sqs.{self._region}.amazonaws.com/111122223333/{args.name}",
            "endpoint": "https://api.example",
            "certificateAuthority": {"data": _CA},
            "identities": [{"oidcs": [{"issuer": "https://oidc.example/1"}]}],
            "vpcConfig": {
                "clusterSecurityGroupId": "sg-0123456789abcdef0",
                "vpcId": "vpc-1",
                "subnetIds": [],
            },
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16"},
            "masterAuth": {"clusterCaCertificate": _CA},
            "email": f"{args.name}@project.example",
            "project": "project",
            "latestVersion": 1,
            "resources": [{"autoscalingGroups": [{"name": args.name}]}],
            "principalId": "principal",
            "ipAddress": "198.51.100.7",
            "fqdn": "api.example",
            "oidcIssuerProfile": {"issuerURL": "https://oidc.example/1/"},
            "allocationId": "eipalloc-1",
        }
        if args.typ == RELEASE:
            made["status"] = {"status": "deployed"}
        given = dict(args.inputs)
        if "vpcConfig" in given:
            given["vpcConfig"] = {**given["vpcConfig"], **made["vpcConfig"]}
        if args.typ.endswith(":ManagedCluster"):
            given["identity"] = {"type": "UserAssigned", "userAssignedIdentities": {}}
        identifier = _IDS.get(args.typ.rpartition(":")[2], f"{args.name}-id")
        return (identifier if args.custom else None), {**made, **given}

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        if args.token.endswith(":getNodeGroups"):
            return {"names": []}, []
        cluster = {"server": "https://a", "certificate-authority-data": _CA}
        kubeconfig = {"clusters": [{"name": "c", "cluster": cluster}]}
        role = "arn:aws:iam::111122223333:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
        return {
            "names": [f"{self._region}{letter}" for letter in "abcdf"],
            "partition": "aws",
            "region": self._region,
            "arn": "arn:aws:sts::111122223333:assumed-role/deploy/me",
            "issuerArn": "arn:aws:iam::111122223333:role/deploy",
            "arns": [role],
            "version": "v1.0.0-eksbuild.1",
            "number": "123456789012",
            "availabilityZone": f"{self._region}a",
            "objectId": "me",
            "clientId": "client",
            "subscriptionId": "subscription",
            "tenantId": "tenant",
            "kubeconfigs": [
                {
                    "name": "user",
                    "value": base64.b64encode(json.dumps(kubeconfig).encode()).decode(),
                }
            ],
        }, []
