"""Metrics and logs that GKE collects from a cluster."""

from pulumi_dra.inputs.reader import InputReader

SYSTEM = "SYSTEM_COMPONENTS"
COMPONENTS = (
    "APISERVER",
    "SCHEDULER",
    "CONTROLLER_MANAGER",
    "STORAGE",
    "HPA",
    "POD",
    "DAEMONSET",
    "DEPLOYMENT",
    "STATEFULSET",
    "CADVISOR",
    "KUBELET",
    "DCGM",
    "JOBSET",
)
"""GKE API reference, MonitoringComponentConfig (google-cloud-container 2.67.0), which
`tests/components/test_gcp_api.py` compares. GKE returns them in this order. Another order would
show a difference at every `pulumi up`, because the provider's list is ordered
(GoogleCloudPlatform/cluster-toolkit issue 6331, hashicorp/terraform-provider-google issue 28688,
which saw other orders too).
"""


LOGGED = ("APISERVER", "SCHEDULER", "CONTROLLER_MANAGER")
"""GKE API reference, LoggingComponentConfig, in the order of its values, which is also the order of
GKE's answers.
"""


def read_control_plane_logs(read: InputReader) -> list[str]:
    """Return `control_plane_logs`, and record errors in `read`."""
    if not read.has("control_plane_logs"):
        return ["SCHEDULER"]
    given = read.texts("control_plane_logs", check=_log_fault)
    return [each for each in LOGGED if each in given]


def _log_fault(text: str) -> str:
    return (
        ""
        if text in LOGGED
        else (f'"{text}" isn\'t a component with logs; use one of: {", ".join(LOGGED)}')
    )


def read_monitoring(read: InputReader) -> list[str]:
    """Return the components, system components first. Errors in `monitoring_components` are
    recorded in `read`.
    """
    components = read.texts("monitoring_components", check=_component_fault)
    if len(set(components)) != len(components):
        read.refuse("monitoring_components", "contains a component twice")
    return [SYSTEM, *(each for each in COMPONENTS if each in components)]


def _component_fault(text: str) -> str:
    if text == SYSTEM:
        return f"{SYSTEM} are always enabled"
    return (
        ""
        if text in COMPONENTS
        else (f'"{text}" isn\'t a component; use one of: {", ".join(COMPONENTS)}')
    )
