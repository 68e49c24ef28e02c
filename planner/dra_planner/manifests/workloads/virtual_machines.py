"""Virtual machines of KubeVirt: one pod each, with the machine's claims.

Source: kubevirt/kubevirt:staging/src/kubevirt.io/api/core/v1/schema.go@v1.6 (spec.resourceClaims,
devices.gpus).
"""

from __future__ import annotations

from typing import Any, Final

from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading
from dra_planner.model import PodSet

_STOPPED: Final = ("Halted", "Manual")
_TEMPLATES: Final = {
    "VirtualMachineInstance": "",
    "VirtualMachine": "spec.template",
    "VirtualMachineInstanceReplicaSet": "spec.template",
    "VirtualMachinePool": "spec.virtualMachineTemplate.spec.template",
}
_POD_FIELDS: Final = (
    "resourceClaims",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "priorityClassName",
    "schedulerName",
)

_DEVICES: Final = ("gpus", "hostDevices")


def read_machine(reading: Reading) -> list[PodSet]:
    """Read a virtual machine: one pod per machine.

    A stopped machine currently doesn't request anything.
    """
    root, kind = reading.root, reading.object.kind
    replicas = root.number("spec.replicas", 1) if kind.endswith(("ReplicaSet", "Pool")) else 1
    running = root.get("spec.running") is not False and root.get("spec.runStrategy") not in _STOPPED
    figures = reading.figures(replicas, bounds=reading.bounds)
    if kind == "VirtualMachine" and not running:
        figures = type(figures)(0, 0, figures.ceiling, figures.peak)
    path = _TEMPLATES[kind]
    template = root.at(path) if path else root
    return reading.pod_set(
        "", ObjectPart(_pod(template), template.at("spec").place), figures, inline=True
    )


def _pod(template: ObjectPart) -> dict[str, Any]:
    """Return the pod that runs a virtual machine, without the overhead of KubeVirt."""
    spec = template.at("spec")
    amounts = dict(spec.get("domain.resources.requests", {}))
    memory = spec.get("domain.memory.guest")
    if memory is not None:
        amounts.setdefault("memory", memory)
    cores = spec.get("domain.cpu.cores")
    if cores is not None and "cpu" not in amounts:
        amounts["cpu"] = cores
    limits = dict(spec.get("domain.resources.limits", {}))
    claims: dict[tuple[str, str], dict[str, str]] = {}
    for device in (
        each for key in _DEVICES for _, each in spec.at(f"domain.devices.{key}").members()
    ):
        name, claim, request = (
            device.get(key) for key in ("deviceName", "claimName", "requestName")
        )
        if name is not None:
            limits[str(name)] = int(limits.get(str(name), 0)) + 1
        if claim is not None:
            entry = {"name": str(claim)} | (
                {"request": str(request)} if request is not None else {}
            )
            claims[str(claim), str(request)] = entry
    pod: dict[str, Any] = {
        field: spec.get(field) for field in _POD_FIELDS if spec.get(field) is not None
    }
    resources = {"requests": amounts, "limits": limits} | (
        {"claims": list(claims.values())} if claims else {}
    )
    pod["containers"] = [{"name": "compute", "resources": resources}]
    return pod
