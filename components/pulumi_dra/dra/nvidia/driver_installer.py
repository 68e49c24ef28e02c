"""Installer of the NVIDIA driver for GKE nodes on which GKE doesn't install a driver, as required
for DRA pools.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s

from dra_planner.catalog.installer_drivers import qualified_on
from dra_planner.clouds import DRA
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader

NAME = "nvidia-dra-driver-installer"
HOST_DRIVER = "/home/kubernetes/bin/nvidia"
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
INSTALLER_IMAGE = "cos-nvidia-installer:fixed"
"""Preloaded on Container-Optimized OS, so nothing is pulled and the installer always matches the
node's kernel
(GoogleCloudPlatform/container-engine-accelerators:nvidia-driver-installer/cos/daemonset-preloaded-latest.yaml).
"""

# Container-Optimized OS keeps the loaded driver even if another version is requested, so the
# installer doesn't replace it. A different version requires new nodes
# (…/daemonset-preloaded-latest.yaml@992db812 also checks the loaded modules).
INSTALL = """\
loaded=$(cat /sys/module/nvidia/version 2>/dev/null || true)
case "$loaded" in
  "") exec /cos-gpu-installer install --version="$DRIVER_VERSION" ;;
  "$DRIVER_VERSION") echo "NVIDIA driver $loaded is loaded" ;;
  *) echo "NVIDIA driver $loaded is loaded and stays until the node restarts; asked for: $DRIVER_VERSION" ;;
esac
"""

HOST_PATHS = {
    "dev": ("/dev", "/dev"),
    "driver": (HOST_DRIVER, "/usr/local/nvidia"),
    "vulkan": (f"{HOST_DRIVER}/vulkan/icd.d", "/etc/vulkan/icd.d"),
    "root": ("/", "/root"),
    "cos-tools": ("/var/lib/cos-tools", "/build/cos-tools"),
}
"""Volume → folder on the node and mount path in the installer."""


class DriverInstallerArgs(TypedDict):
    """Inputs of DriverInstaller."""

    driver: NotRequired[str]
    """NVIDIA driver version: latest (default), default, or a version that Container-Optimized OS
    offers (580.95.05).
    """
    pause_image: NotRequired[str]
    """Image of the container that runs after the installation. Default:
    registry.k8s.io/pause:3.10.
    """


class DriverInstaller(pulumi.ComponentResource):
    """A DaemonSet that installs the NVIDIA driver on the DRA nodes of a GKE cluster at boot."""

    name: pulumi.Output[str]
    """Name of the DaemonSet in kube-system."""

    def __init__(
        self, name: str, args: DriverInstallerArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("DriverInstaller", name, args, DriverInstallerArgs)
        driver = read.text(
            "driver",
            "latest",
            pattern=r"latest|default|\d+(\.\d+)+",
            meaning="latest, default, or a driver version",
        )
        if driver[:1].isdigit():
            milestones = qualified_on(driver)
            seen = (
                f"is listed only for {milestones}"
                if milestones
                else "isn't listed for any known Container-Optimized OS (COS) version"
            )
            pulumi.warn(
                f"NVIDIA driver {driver} {seen}, so the installer might fail after a node upgrade",
            )
        pause_image = read.text("pause_image", PAUSE_IMAGE, pattern=r"[^\s]+", meaning="an image")
        read.finish()
        super().__init__("pulumi-dra:index:DriverInstaller", name, {}, opts)
        daemon_set = k8s.apps.v1.DaemonSet(
            f"{name}-installer",
            metadata={
                "name": NAME,
                "namespace": "kube-system",
                # The number of nodes changes, so a deployment must not wait for the driver on each
                # node.
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            spec=installer_spec(driver, pause_image),
            opts=Children(self, opts).options(),
        )
        self.name = daemon_set.metadata.name
        self.register_outputs({"name": self.name})


def installer_spec(driver: str, pause_image: str) -> Any:
    """Return the DaemonSet's spec in API form: an init container that installs, then a container
    that does nothing.

    It avoids nodes on which GKE installs a driver, which have the label gke-gpu-driver-version.
    """
    labels = {"app.kubernetes.io/name": NAME}
    rest = {
        "name": "rest",
        "image": pause_image,
        "resources": {"requests": {"cpu": "1m", "memory": "8Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True},
    }
    node_terms = [
        {"key": DRA, "operator": "In", "values": ["true"]},
        {"key": "cloud.google.com/gke-accelerator", "operator": "Exists"},
        {"key": "cloud.google.com/gke-gpu-driver-version", "operator": "DoesNotExist"},
    ]
    return {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate"},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "priorityClassName": "system-node-critical",
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{"matchExpressions": node_terms}]
                        }
                    }
                },
                "tolerations": [{"operator": "Exists"}],
                "hostNetwork": True,
                "hostPID": True,
                "automountServiceAccountToken": False,
                "volumes": [
                    {"name": key, "hostPath": {"path": path}}
                    for key, (path, _) in HOST_PATHS.items()
                ],
                "initContainers": [_installing(driver)],
                "containers": [rest],
            },
        },
    }


def _installing(driver: str) -> Any:
    """Return the init container that installs the driver. Its variables name the mounted folders of
    the node.
    """
    environment = {
        "DRIVER_VERSION": driver,
        "NVIDIA_INSTALL_DIR_HOST": HOST_PATHS["driver"][0],
        "NVIDIA_INSTALL_DIR_CONTAINER": HOST_PATHS["driver"][1],
        "VULKAN_ICD_DIR_HOST": HOST_PATHS["vulkan"][0],
        "VULKAN_ICD_DIR_CONTAINER": HOST_PATHS["vulkan"][1],
        "ROOT_MOUNT_DIR": HOST_PATHS["root"][1],
        "COS_TOOLS_DIR_HOST": HOST_PATHS["cos-tools"][0],
        "COS_TOOLS_DIR_CONTAINER": HOST_PATHS["cos-tools"][1],
    }
    return {
        "name": "install",
        "image": INSTALLER_IMAGE,
        "imagePullPolicy": "Never",
        "command": ["bash", "-c", INSTALL],
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        "resources": {"requests": {"cpu": "150m"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [
            {"name": key, "mountPath": inside} for key, (_, inside) in HOST_PATHS.items()
        ],
    }
