"""Find parts of commands in guides and scripts that no longer work, or that never worked.

Sources: kubernetes/kubernetes:pkg/features/kube_features.go (gates),
kubernetes-sigs/dra-driver-nvidia-gpu: its tags and the history of deployments/helm (names, values),
kubernetes/api:resource (kinds and their scope).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import GPU_CLASS
from dra_planner.errors import Diagnostic, Place, Severity
from dra_planner.manifests.setup.gates_and_versions import faults_of_gates, faults_of_versions
from dra_tutorials.blocks.embedded import ShellCommand
from dra_tutorials.shell.mig_commands import mig_findings
from dra_tutorials.shell.setup_commands import findings_of_command

_OLD_CHART: Final = "nvidia/nvidia-dra-driver-gpu"
_CHART: Final = "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu"
_NEVER: Final = re.compile(
    r"(?<![\w./-])(?:[\w-]+/)?(k8s-dra-driver-gpu|k8s-dra-gpu-driver|k8s-dra-imex-driver)(?![\w./-])"
)
_IN_NAMESPACE: Final = re.compile(r"(?<=\s)(?:-n|--namespace)[= ]\s*\S+")
"""A namespace can have the name of a chart that never existed, which isn't a mistake."""
_FOLDER: Final = re.compile(r"(?<![\w.-])[\w./-]*deployments/helm/k8s-dra-driver(?![\w-])/?")
_LABEL: Final = re.compile(r"\bkubectl\b.*\slabel\s.*resource\.k8s\.io/admin-access=")
_GATES: Final = re.compile(r"[\w.-]*feature-gates[= ](\S+)")
_VERSIONS: Final = re.compile(r"[\w.-]*runtime-config[= ](\S+)")
_CHART_VERSION: Final = re.compile(
    r"(?:nvidia-dra-driver-gpu|dra-driver-nvidia-gpu)\b.*?--version[= ][\"']?v?(\d[\w.-]*)"
)
_GONE_KINDS: Final = re.compile(
    r"\bkubectl\s+(?:[\w-]+\s+)*?(resourceclass(?:es)?|podscheduling(?:context)?s?|resourceclaimparameters|"
    r"resourceclassparameters)\b",
    re.IGNORECASE,
)
_CLUSTER_KINDS: Final = re.compile(
    r"\bkubectl\b(?=.*\s(?:-n|--namespace)[= ]?\S+)(?!.*,)"
    r".*?\s(deviceclass(?:es)?|resourceslices?|nodes?|namespaces?)\b",
    re.IGNORECASE,
)
_WITH_GATES: Final = re.compile(r"(?i)volcano|kueue")
"""Projects that have feature gates with the same names as Kubernetes. Flags without a command may
belong to these projects.
"""
_DASH: Final = re.compile(r"(?<=\s)[\u2013\u2014]{1,2}(?=[a-z])")
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})

Found = tuple[Severity, str, str, str]  # severity, code, message, fix


def command_findings(
    commands: Iterable[ShellCommand], file: str, page: str
) -> Iterator[Diagnostic]:
    """Yield the errors in each command, with the line number in the file. `page` is the text of the
    whole file.
    """
    for command in commands:
        others_gates = command.text.startswith("-") and _WITH_GATES.search(page) is not None
        looks = [look(command.text) for look in _LOOKS if look is not _gates or not others_gates]
        others = findings_of_command(command.text, page), mig_findings(command.text, page)
        for severity, code, message, fix in chain(*looks, *others):
            yield Diagnostic(severity, code, message, Place(file, command.line), fix)
        if command.cut:
            message = (
                "the comment ends the command, so the shell runs the options below the comment as "
                "another command"
            )
            fix = f"move the comment above the command, which begins on line {command.line}"
            yield Diagnostic("error", "command-cut", message, Place(file, command.cut), fix)


def _typography(text: str) -> Iterator[Found]:
    repaired = _DASH.sub("--", text).translate(_QUOTES)
    if repaired != text:
        message = (
            "the command contains typographic dashes or quotes, which the shell treats as "
            "ordinary characters"
        )
        yield "error", "typographic-command", message, f"write: {repaired}"


def _gates(text: str) -> Iterator[Found]:
    for match in _GATES.finditer(text):
        yield from faults_of_gates(match[1])


def _versions(text: str) -> Iterator[Found]:
    for match in _VERSIONS.finditer(text):
        yield from faults_of_versions(match[1])


def _charts(text: str) -> Iterator[Found]:
    if not re.search(r"\bhelm\b", text):
        return
    for match in _NEVER.finditer(_IN_NAMESPACE.sub("", text)):
        message = f'chart "{match[1]}" was never published'
        yield (
            "error",
            "chart-never-existed",
            message,
            f"use {_CHART} (0.4.0 and later) or {_OLD_CHART} (25.3 to 25.12)",
        )
    for match in _FOLDER.finditer(text):
        message = (
            f"{match[0]} contains the chart of drivers from 2023 and 2024, which don't support "
            "resource.k8s.io/v1"
        )
        yield (
            "error",
            "chart-gone",
            message,
            f"use {_CHART}, and remove the values of the old chart",
        )
    known = {release.version: release for release in nvidia.driver_releases()}
    for match in _CHART_VERSION.finditer(text):
        release = known.get(match[1])
        if release is None and not re.search(r"-rc", match[1]):
            message = f"the NVIDIA DRA driver doesn't have a version {match[1]}"
            yield (
                "error",
                "release-never-existed",
                message,
                f"use one of {', '.join(sorted(known))}",
            )
        elif release is not None and not release.is_installable:
            message = (
                f"version {match[1]} of the NVIDIA DRA driver can't be installed: {release.fault}"
            )
            later = next(
                each
                for each in known.values()
                if each.order > release.order and each.is_installable
            )
            yield (
                "error",
                "release-not-installable",
                message,
                f"use --version {later.version} or later",
            )
    if re.search(r"resources\.gpus\.enabled=false", text) and "dra" in text:
        message = (
            "with resources.gpus.enabled=false, the driver doesn't publish GPUs or create "
            f"DeviceClass {GPU_CLASS}"
        )
        yield (
            "warning",
            "gpus-left-out",
            message,
            "use gpuResourcesEnabledOverride=true if claims request GPUs",
        )


def _kinds(text: str) -> Iterator[Found]:
    gone = _GONE_KINDS.search(text)
    if gone is not None:
        message = f"Kubernetes 1.31 or 1.32 removed {gone[1]}"
        yield (
            "error",
            "kind-gone",
            message,
            "use deviceclasses, resourceclaims, or resourceslices instead",
        )
    if _LABEL.search(text) is not None:
        message = (
            "the label resource.k8s.io/admin-access has no effect, because the API server reads a "
            "label in another domain"
        )
        yield (
            "error",
            "label-does-nothing",
            message,
            "use resource.kubernetes.io/admin-access=true",
        )
    scoped = _CLUSTER_KINDS.search(text)
    if scoped is not None:
        message = f"{scoped[1]} aren't namespaced, so -n has no effect"
        yield "warning", "namespace-ignored", message, "remove -n from the command"


_LOOKS: Final[tuple[Callable[[str], Iterator[Found]], ...]] = (
    _typography,
    _gates,
    _versions,
    _charts,
    _kinds,
)
