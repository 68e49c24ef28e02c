"""User data of EKS GPU nodes, as their launch template contains it."""

import base64
from collections.abc import Mapping, Sequence
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from typing import Any

import yaml
from msgspec import Struct

from dra_planner.model import Taint
from pulumi_dra.eks.boot.huge_pages import huge_pages_installer
from pulumi_dra.eks.boot.mig import mig_installer
from pulumi_dra.inputs.pool_inputs import DEFAULT_POLICIES, NO_HUGE_PAGES, KubeletPolicies
from pulumi_dra.inputs.reader import InputReader

BOUNDARY = "pulumi-dra"
MOST_BYTES = 16_384
"""Limit before base64 encoding: EC2 user guide, “Run commands when you launch an EC2 instance with
user data input”.
"""


class KubeletSettings(Struct, frozen=True, kw_only=True):
    """Kubelet settings in addition to the EKS settings. Empty fields aren't set."""

    max_pods: int | None = None
    reserved_cpu: str = ""
    reserved_memory: str = ""
    policies: KubeletPolicies = DEFAULT_POLICIES

    def configuration(self) -> dict[str, Any]:
        """Return the fields of kubelet's configuration file."""
        reserved = {"cpu": self.reserved_cpu, "memory": self.reserved_memory}
        reserved = {resource: amount for resource, amount in reserved.items() if amount}
        return {
            **({"maxPods": self.max_pods} if self.max_pods else {}),
            **({"systemReserved": reserved} if reserved else {}),
            **(
                {"cpuManagerPolicy": self.policies.cpu_manager} if self.policies.cpu_manager else {}
            ),
            **(
                {"topologyManagerPolicy": self.policies.topology_manager}
                if self.policies.topology_manager
                else {}
            ),
        }


DEFAULT_KUBELET = KubeletSettings()


class JoiningNode(Struct, frozen=True, kw_only=True):
    """Settings that EKS passes to nodes with its own images: the cluster in nodeadm's format,
    labels, and taints.
    """

    cluster: Mapping[str, str]
    labels: Mapping[str, str]
    taints: Sequence[Taint]

    def flags(self) -> list[str]:
        """Return kubelet's flags that register the node with the planned labels and taints from the
        start.
        """
        labels = ",".join(f"{key}={value}" for key, value in sorted(self.labels.items()))
        taints = ",".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in self.taints)
        return [f"--node-labels={labels}", f"--register-with-taints={taints}"]


def boot_config(
    *,
    mig: Sequence[Sequence[str] | None] = (),
    local_storage: str = "none",
    kubelet: KubeletSettings = DEFAULT_KUBELET,
    script: str = "",
    huge_pages: Mapping[str, int] = NO_HUGE_PAGES,
    joining: JoiningNode | None = None,
) -> str:
    """Return base64 user data, or "" if it would be empty.

    `mig` holds, for each GPU in device order, its MIG instances in creation order ("3g.40gb",
    "3g.40gb"), or None for a GPU that stays whole. `local_storage` is nodeadm's use of local disks:
    none, raid0, or mount. `huge_pages` is the number of pages by size ("2Mi", "1Gi"). `script` is
    the user's boot script. It runs at the first boot of an instance, before MIG is configured and
    the node joins. EKS merges its own node configuration with this unless the launch template names
    an image. In that case, `joining` adds the rest.
    """
    parts: list[tuple[str, str]] = []
    if node_config := _node_config(local_storage, kubelet, joining):
        parts.append(("application/node.eks.aws", node_config))
    if script:
        parts.append(("text/x-shellscript", script))
    if huge_pages:
        parts.append(("text/x-shellscript", huge_pages_installer(huge_pages)))
    if any(instances is not None for instances in mig):
        parts.append(("text/x-shellscript", mig_installer(mig)))
    return base64.b64encode(_multipart(parts).encode()).decode() if parts else ""


def _node_config(local_storage: str, kubelet: KubeletSettings, joining: JoiningNode | None) -> str:
    """Return nodeadm's configuration as YAML, or "" if the EKS configuration is enough."""
    spec: dict[str, Any] = {"cluster": dict(joining.cluster)} if joining else {}
    if local_storage != "none":
        spec["instance"] = {
            "localStorage": {"strategy": {"raid0": "RAID0", "mount": "Mount"}[local_storage]}
        }
    if configuration := kubelet.configuration():
        spec["kubelet"] = {"config": configuration}
    if joining:
        spec["kubelet"] = {**spec.get("kubelet", {}), "flags": joining.flags()}
    document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
    return yaml.safe_dump(document, sort_keys=False) if spec else ""


def _multipart(parts: list[tuple[str, str]]) -> str:
    document = MIMEMultipart(boundary=BOUNDARY)
    for kind, text in parts:
        main, sub = kind.split("/")
        part = MIMENonMultipart(main, sub)
        part.set_payload(text)
        document.attach(part)
    return document.as_string()


def read_boot_script(read: InputReader) -> str:
    """Return `boot_script`, or "" if it's unset. Errors are recorded in `read`."""
    script = read.text("boot_script", "")
    if script and not script.startswith("#!"):
        read.refuse("boot_script", 'must start with an interpreter line: "#!/bin/bash"')
    return script
