"""DeviceClasses that are named after the needs of a workload instead of a GPU model."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
from msgspec import Struct

from dra_planner.clouds import extended_resource_fault, selection_fault
from dra_planner.drivers import class_name_fault
from dra_planner.releases import parse_version
from pulumi_dra.child_options import Children
from pulumi_dra.dra.nvidia.class_selectors import DEVICES, class_selectors, refusal_of
from pulumi_dra.inputs.kubernetes_version import check_version
from pulumi_dra.inputs.reader import InputReader


class DeviceClassSettings(TypedDict):
    """One DeviceClass with predefined conditions, custom selectors, or both. A device must satisfy
    all conditions and selectors.
    """

    name: str
    """Name of the class, for example large-gpu."""
    device: NotRequired[str]
    """Device type: gpu (whole GPU), mig (MIG device), or any. Default: no condition."""
    memory_gib_at_least: NotRequired[int]
    """Minimum device memory in GiB."""
    mig_profile: NotRequired[str]
    """MIG profile, for example 1g.10gb. Implies the device type mig."""
    selectors: NotRequired[list[str]]
    """CEL expressions. A device must satisfy all of them."""
    extended_resource_name: NotRequired[str]
    """Extended resource that pods can request instead of a claim. Requires Kubernetes 1.36 or
    later.
    """
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Labels of the class."""


class DeviceClassesArgs(TypedDict):
    """Inputs of DeviceClasses."""

    kubernetes_version: str
    """Kubernetes version of the cluster, which determines the supported fields of DeviceClasses."""
    # Elements are inputs because Pulumi's Go generator omits the type of a structure that is used
    # only as an element of a plain list (pulumi/pulumi:pkg/codegen/go/gen.go@v3.259.0). Outputs are
    # rejected anyway.
    classes: list[pulumi.Input[DeviceClassSettings]]
    """At least one class."""


class DeviceClasses(pulumi.ComponentResource):
    """DeviceClasses of the platform, in addition to the classes in the driver's chart."""

    names: pulumi.Output[list[str]]
    """Names of the classes."""

    def __init__(
        self, name: str, args: DeviceClassesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("DeviceClasses", name, args, DeviceClassesArgs)
        classes = read_classes(read)
        read.finish()
        super().__init__("pulumi-dra:index:DeviceClasses", name, {}, opts)
        options = Children(self, opts).options
        for item in classes:
            k8s.resource.v1.DeviceClass(
                f"{name}-{item.name}",
                metadata={"name": item.name, "labels": item.labels or None},
                spec=item.spec,
                opts=options(),
            )
        self.names = pulumi.Output.from_input([item.name for item in classes])
        self.register_outputs({"names": self.names})


class CheckedClass(Struct, frozen=True):
    """A checked class with its spec in the SDK's form."""

    name: str
    labels: dict[str, pulumi.Input[str]]
    spec: Any


def read_classes(read: InputReader) -> list[CheckedClass]:
    """Return the classes, and record errors in `read`."""
    version = read.text("kubernetes_version", check=check_version)
    minor = parse_version(version) if version and not check_version(version) else 0
    classes = [
        _read_class(read, index, item, minor) for index, item in enumerate(read.blocks("classes"))
    ]
    if not classes:
        read.refuse("classes", "must not be empty")
    for index, item in enumerate(classes):
        if item.name and item.name in [other.name for other in classes[:index]]:
            read.refuse(
                f"classes[{index}].name", f'an earlier class already has the name "{item.name}"'
            )
    return classes


def _read_class(outer: InputReader, index: int, item: Any, minor: int) -> CheckedClass:
    read = outer.inside(f"classes[{index}]", item, DeviceClassSettings)
    class_name = read.text("name", check=class_name_fault)
    device = read.choice("device", ("", *DEVICES), "") if read.has("device") else ""
    memory = read.whole("memory_gib_at_least", 0, most=100_000)
    profile = read.text(
        "mig_profile", "", pattern=r"[1-9]g\.\d+gb(\+[a-z.]+)?", meaning="a MIG profile (1g.10gb)"
    )
    if profile and device in ("gpu", "any"):
        read.refuse("device", f'must be mig if mig_profile is set, not "{device}"')
    own = read.texts(
        "selectors", check=lambda expression: refusal_of(expression, minor) if minor else ""
    )
    extended = read.text("extended_resource_name", "")
    if extended and minor and (problem := extended_resource_fault(minor)):
        read.refuse("extended_resource_name", problem)
    selectors = [
        *class_selectors(device=device, memory_gib_at_least=memory, mig_profile=profile),
        *own,
    ]
    if problem := selection_fault(selectors):
        read.refuse("selectors", problem)
    spec: dict[str, Any] = {
        "selectors": [{"cel": {"expression": expression}} for expression in selectors]
    }
    if extended:
        spec["extended_resource_name"] = extended
    return CheckedClass(class_name, read.labels("labels"), spec)
