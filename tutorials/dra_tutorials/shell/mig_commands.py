"""MIG configuration through nvidia-smi or through the label of NVIDIA's MIG manager, and its
effects on claims.

Sources: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/nvlib.go@v0.4.1 (devices are
listed at start), NVIDIA/mig-parted and NVIDIA/gpu-operator:assets/state-mig-manager@0b0b6b15 (the
label), NVIDIA's MIG User Guide (GPU instances don't survive a reboot).
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
_READ_AT_START: Final = "the DRA driver detects MIG devices only when it starts"

MigFinding = tuple[Severity, str, str, str]  # severity, code, message, fix


def mig_findings(text: str, page: str) -> Iterator[MigFinding]:
    """Yield the MIG changes of a shell command that the DRA driver doesn't detect. `page` is the
    text of the whole file.
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
                f"set `mig: {layout or 'CONFIGURATION'}` for the pool in the fleet (`pulumi-dra "
                "catalog mig` lists the configurations), or restart the driver's pod on the node "
                "afterward"
            )
            yield severity, "mig-by-hand", message, fix


def label_message() -> str:
    """Return a message about the effect of the MIG manager's label on nodes with the DRA driver."""
    return (
        f"only the GPU Operator's MIG manager reads the label {MIG_LABEL}. Without the MIG "
        "manager, the label has no effect. With the MIG manager, the label partitions GPUs while "
        f"claims use them, and {_READ_AT_START}"
    )


def label_fix(layout: str) -> str:
    """Return the fix for a command that sets the label."""
    configuration = layout if _LAYOUT.fullmatch(layout) else "CONFIGURATION"
    return (
        f"set `mig: {configuration}` for the pool in the fleet and, if you run the GPU Operator, label the "
        f"pool's nodes {KEPT_OFF}"
    )


def _by_hand(words: str, page: str) -> tuple[str, str]:
    """Return a message about the effect of an nvidia-smi command, and the resulting MIG
    configuration ("" if unknown). Return ("", "") if the command doesn't change MIG.
    """
    mode, cut = _MODE.search(words), _CUT.search(words)
    if cut is not None:
        message = (
            "this command partitions the node's GPUs until the next reboot, but "
            f"{_READ_AT_START}, so it still publishes the earlier devices"
        )
        return message, _layout(cut["profiles"] or "", page)
    if _DESTROY.search(words):
        return (
            (
                f"this command deletes MIG instances, but {_READ_AT_START}, so it still publishes "
                "the deleted instances"
            ),
            "",
        )
    if mode is None:
        return "", ""
    if mode["on"] == "1":
        after = "and it doesn't publish a GPU in MIG mode without MIG instances"
        return f"this command enables MIG mode, but {_READ_AT_START}, {after}", ""
    return (
        f"this command disables MIG mode, but {_READ_AT_START}, so it still publishes the deleted "
        "instances",
        "none",
    )


def _layout(profiles: str, page: str) -> str:
    """Return the MIG configuration with a command's profiles. Profile numbers are resolved only if
    the page is about a single GPU model.
    """
    chosen = profiles.split(",")
    if not all(map(_PROFILE.fullmatch, chosen)):
        numbers = _numbers(page)
        chosen = [numbers.get(each, "") for each in chosen]
    counts = Counter(chosen)
    return "" if "" in counts else ",".join(f"{name}:{count}" for name, count in counts.items())


def _numbers(page: str) -> dict[str, str]:
    """Return profile names by number if all machine types on the page have the same GPU model."""
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
