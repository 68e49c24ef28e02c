"""Kueue: jobs wait in queues until quota is available. Claims count against quotas through the
DeviceClasses in Kueue's configuration.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import yaml

from dra_planner.drivers.nvidia import GPU_CLASS, MIG_CLASS
from pulumi_dra.child_options import Children
from pulumi_dra.dra.releases.optional_releases import (
    PinnedChart,
    ReleaseInputs,
    declare_release,
    read_release,
)
from pulumi_dra.inputs.reader import InputReader

KUEUE = PinnedChart(
    release="kueue",
    chart="oci://registry.k8s.io/kueue/charts/kueue",
    version="0.19.2",
    namespace="kueue-system",
    least="0.18.0",
    least_does="counts claims from templates by default",
)
"""kubernetes-sigs/kueue:charts/kueue@v0.19.2. From 0.18 on, claims from templates count without
enabling a gate (pkg/features/kube_features.go).
"""

CHART_CLASSES = (GPU_CLASS, MIG_CLASS)
MOST_CLASSES = 16
"""Maximum number of mappings (kubernetes-sigs/kueue:pkg/config/validation.go@v0.19.2)."""
LONGEST_CLASS = 63
"""Class names must be label names (same file)."""
OWN_QUOTAS = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})
"""Resources that Kueue counts for every pod, under these names."""
_CLASS = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"


class KueueArgs(TypedDict):
    """Inputs of Kueue."""

    version: NotRequired[str]
    """Version of the Helm chart, 0.18.0 or later. Default: 0.19.2."""
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in the kueue-system namespace."""
    device_classes: NotRequired[list[str]]
    """DeviceClasses whose devices count against quotas. The quota of a class has the same name as
    the class. Default: gpu.nvidia.com, mig.nvidia.com, and, on a platform, the classes in the
    fleet.
    """


def read_kueue(read: InputReader) -> tuple[ReleaseInputs, list[str]]:
    """Return the checked inputs of the release and the classes. Errors are recorded in `read`."""
    classes = read.texts(
        "device_classes", pattern=_CLASS, meaning="the name of a DeviceClass"
    ) or list(CHART_CLASSES)
    for index, each in enumerate(classes):
        if len(each) > LONGEST_CLASS:
            read.refuse(
                f"device_classes[{index}]",
                f'"{each}" is too long, because Kueue allows at most {LONGEST_CLASS} characters; '
                "list only classes with shorter names",
            )
        elif each in OWN_QUOTAS:
            read.refuse(
                f"device_classes[{index}]",
                f'Kueue already counts "{each}" under this name; remove it from device_classes',
            )
    if len(set(classes)) < len(classes):
        read.refuse("device_classes", "contains a class twice")
    if len(classes) > MOST_CLASSES:
        read.refuse(
            "device_classes", f"has {len(classes)} classes, but Kueue maps at most {MOST_CLASSES}"
        )
    return read_release(read, KUEUE), classes


class Kueue(pulumi.ComponentResource):
    """Kueue, a job queue that admits jobs with the `kueue.x-k8s.io/queue-name` label if their
    claims are within the quota.
    """

    namespace: pulumi.Output[str]
    """Namespace of Kueue."""

    def __init__(
        self, name: str, args: KueueArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("Kueue", name, args, KueueArgs)
        inputs, classes = read_kueue(read)
        read.finish()
        super().__init__("pulumi-dra:index:Kueue", name, {}, opts)
        _, self.namespace = declare_release(
            name, KUEUE, inputs, kueue_values(inputs, classes), Children(self, opts)
        )
        self.register_outputs({"namespace": self.namespace})


def kueue_values(inputs: ReleaseInputs, classes: Sequence[str]) -> dict[str, Any]:
    """Return the chart's values; every key exists in
    kubernetes-sigs/kueue:charts/kueue/values.yaml@v0.19.2.
    """
    manager: dict[str, Any] = {"image": inputs.image()} if inputs.image() else {}
    values: dict[str, Any] = {
        "fullnameOverride": KUEUE.release,
        "managerConfig": {
            "controllerManagerConfigYaml": yaml.safe_dump(
                kueue_configuration(classes), sort_keys=False
            )
        },
    }
    controller: dict[str, Any] = {"manager": manager} if manager else {}
    if inputs.image_pull_secrets:
        controller["imagePullSecrets"] = [{"name": secret} for secret in inputs.image_pull_secrets]
    return {**values, "controllerManager": controller} if controller else values


def kueue_configuration(classes: Sequence[str]) -> dict[str, Any]:
    """Return Kueue's complete configuration. Each class counts against the quota with its name.

    Defaults of Kueue aren't repeated. Addresses and the lease match the chart's objects
    (kubernetes-sigs/kueue:charts/kueue/values.yaml,
    apis/config/v1beta2/configuration_types.go@v0.19.2).
    """
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "resources": {
            "deviceClassMappings": [{"name": name, "deviceClassNames": [name]} for name in classes]
        },
        # Kinds that don't require other software. Kueue ignores kinds whose definitions are
        # missing.
        "integrations": {
            "frameworks": [
                "batch/job",
                "jobset.x-k8s.io/jobset",
                "leaderworkerset.x-k8s.io/leaderworkerset",
                "ray.io/raycluster",
                "ray.io/rayjob",
                "ray.io/rayservice",
                "pod",
                "deployment",
                "statefulset",
            ]
        },
    }
