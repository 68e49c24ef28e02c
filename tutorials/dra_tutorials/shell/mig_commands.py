"""MIG that a command sets up by hand, or by the label of NVIDIA's MIG manager: what claims see of
it.

Sources: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/nvlib.go@v0.4.1 (devices are
listed at start), NVIDIA/mig-parted and NVIDIA/gpu-operator:assets/state-mig-manager@0b0b6b15 (the
label), NVIDIA's MIG User Guide (GPU instances do not outlive a reboot).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from dra_planner.catalog import machines
from dra_planner.clouds import names
from dra_planner.drivers.nvidia import mig_profiles
from dra_planner.errors import Severity

MIG_LABEL: Final = "nvidia.com/mig.config"
KEPT_OFF: Final = 'nvidia.com/gpu.deploy.mig-manager="false"'
_SMI: Final = re.compile(r"\bnvidia-smi\b(?P<words>[^|;&]*)")
_MODE: Final = re.compile(r"\s(?:-mig|--multi-instance-gpu)[= ]\s*[\"']?(?P<on>[01])\b")
_CUT: Final = re.compile(
    r"\smig\b.*?\s(?:-cgi|--create-gpu-instance)(?:[= ]\s*[\"']?(?P<profiles>[^\s\"']+))?"
)
_DESTROY: Final = re.compile(
    r"\smig\b.*?\s(?:-dgi|-dci|--destroy-gpu-instance|--destroy-compute-instance)\b"
)
_LABEL: Final = re.compile(rf"{re.escape(MIG_LABEL)}\s*[=:]\s*[\"']?(?P<layout>[^\s\"',]*)")
_PROFILE: Final = re.compile(r"\d+g\.\d+gb(?:\+[\w.]+)?")
_LAYOUT: Final = re.compile(r"all-[\w.]+|all-(?:disabled|enabled|balanced)")
_ABOUT_DRA: Final = re.compile(
    r"resource\.k8s\.io|dra-driver|resourceclaim|deviceclass|resourceslice", re.IGNORECASE
)
_RESTART: Final = re.compile(
    r"\bkubectl\b[^\n|;&]*\b(?:delete\s+pods?|rollout\s+restart)\b[^\n]*dra-"
)
_READ_AT_START: Final = "the DRA driver reads how GPUs are cut when it starts"

Told = tuple[Severity, str, str, str]  # severity, code, message, fix


def mig_findings(text: str, page: str) -> Iterator[Told]:
    """Yield what a line of a shell does to MIG that claims do not see; `page` is the whole text it
    stands in.
    """
    severity: Severity = "warning" if _ABOUT_DRA.search(page) else "note"
    label = _LABEL.search(text)
    if label is not None:
        yield severity, "mig-label", label_message(), label_fix(label["layout"])
    if _RESTART.search(page) is not None:
        return
    for found in _SMI.finditer(text):
        message, layout = _by_hand(found["words"], page)
        if message:
            fix = (
                f"set `mig: {layout or 'LAYOUT'}` on the pool of the fleet (`pulumi-dra catalog "
                "mig` lists them), "
                "or restart the driver's pod on the node afterwards"
            )
            yield severity, "mig-by-hand", message, fix


def label_message() -> str:
    """Return what the label of the MIG manager does on nodes with the DRA driver."""
    return (
        f"{MIG_LABEL} is read only by the MIG manager of the GPU Operator: without it, the label "
        "has no effect, and "
        f"with it, GPUs are partitioned while claims use them, and {_READ_AT_START}"
    )


def label_fix(layout: str) -> str:
    """Return what to do instead of the label."""
    said = layout if _LAYOUT.fullmatch(layout) else "LAYOUT"
    return (
        f"set `mig: {said}` on the pool of the fleet, and label its nodes {KEPT_OFF} if the "
        "operator runs"
    )


def _by_hand(words: str, page: str) -> tuple[str, str]:
    """Return what a call of nvidia-smi does, and the layout that it makes, "" where nobody can
    tell; ("", "") where it only looks.
    """
    mode, cut = _MODE.search(words), _CUT.search(words)
    if cut is not None:
        message = (
            f"partitions GPUs of this node by hand, until a reboot: {_READ_AT_START}, and "
            "publishes the earlier state"
        )
        return message, _layout(cut["profiles"] or "", page)
    if _DESTROY.search(words):
        return (
            (f"deletes MIG instances by hand: {_READ_AT_START}, and still publishes them"),
            "",
        )
    if mode is None:
        return "", ""
    if mode["on"] == "1":
        after = "and publishes nothing of a GPU in MIG mode without instances"
        return f"turns MIG on by hand: {_READ_AT_START}, {after}", ""
    return (
        f"turns MIG off by hand: {_READ_AT_START}, and still publishes the deleted instances",
        "none",
    )


def _layout(profiles: str, page: str) -> str:
    """Return the layout of the profiles that a command names, by name or by the numbers of the
    page's one GPU model.
    """
    chosen = profiles.split(",")
    if not all(map(_PROFILE.fullmatch, chosen)):
        numbers = _numbers(page)
        chosen = [numbers.get(each, "") for each in chosen]
    counts = Counter(chosen)
    return "" if "" in counts else ",".join(f"{name}:{count}" for name, count in counts.items())


def _numbers(page: str) -> dict[str, str]:
    """Return profile numbers and their names, where all machines that the page names have GPUs of
    one model.
    """
    words = {word.strip(".") for word in re.findall(r"[\w.-]+", page)}
    models = {
        each.accelerator.gpu
        for cloud in names()
        for each in machines(cloud)
        if each.name in words and each.accelerator is not None and each.accelerator.gpu is not None
    }
    if len(models) != 1:
        return {}
    return {str(each.gi_profile_id): each.name for each in mig_profiles(models.pop())}
