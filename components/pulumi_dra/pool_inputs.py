"""Inputs that GPU pools of both clouds share: how many nodes, the pool's name, further labels."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import pulumi

from pulumi_dra.inputs import InputReader
from pulumi_dra.labels import GPU_TAINT_KEY, GPU_TAINT_VALUE, LABEL_KEY, LABEL_VALUE, reserved_labels

LONGEST_KEY = 253 + 1 + 63
"""Characters of a label's or taint's key in Kubernetes: a domain, a slash and a name."""
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Counts:
    """Nodes of a pool in all zones together, and whether an autoscaler moves between the limits."""

    min: int
    desired: int
    max: int
    autoscaled: bool


def read_counts(read: InputReader) -> Counts:
    """Return `min_nodes`, `desired_nodes`, `max_nodes` and `autoscaled`; they must be in order."""
    most = read.whole("max_nodes", least=1, most=100_000)
    least = read.whole("min_nodes", 0, most=100_000)
    desired = read.whole("desired_nodes", least, most=100_000)
    if least > most:
        read.refuse("min_nodes", f"{least} is more than max_nodes, {most}")
    elif not least <= desired <= most:
        read.refuse("desired_nodes", f"{desired} is not between min_nodes, {least}, and max_nodes, {most}")
    return Counts(least, desired, most, read.flag("autoscaled", False))


def read_pool_name(read: InputReader, component_name: str) -> str:
    """Return the value of the pool's label, by default the component's name."""
    return read.text("pool_name", component_name, pattern=LABEL_VALUE, meaning="the value of a label")


class NodeTaint(TypedDict):
    """A taint of a pool's nodes."""

    key: str
    """Key, example.com/team for example."""
    value: NotRequired[str]
    """Value. Default none."""
    effect: NotRequired[str]
    """NoSchedule (default), PreferNoSchedule or NoExecute."""


@dataclass(frozen=True, slots=True)
class Taint:
    """The same, checked."""

    key: str
    value: str
    effect: str  # in Kubernetes' words

    @property
    def cloud_effect(self) -> str:
        """Return the effect in the word that both clouds' APIs have for it: NO_SCHEDULE."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.effect).upper()


GPU_TAINT = Taint(GPU_TAINT_KEY, GPU_TAINT_VALUE, "NoSchedule")


def read_taints(read: InputReader, *, longest_key: int = LONGEST_KEY) -> list[Taint]:
    """Return a pool's taints: ours, and the user's beside it."""
    taints = [GPU_TAINT]
    for index, block in enumerate(read.blocks("taints")):
        inner = read.inside(f"taints[{index}]", block, NodeTaint)
        taint = Taint(
            inner.text("key", pattern=LABEL_KEY, meaning="a taint's key"),
            inner.text("value", "", pattern=LABEL_VALUE, meaning="a taint's value"),
            inner.choice("effect", EFFECTS, "NoSchedule"),
        )
        if taint.key == GPU_TAINT_KEY:
            inner.refuse("key", f'"{GPU_TAINT_KEY}" is on every node of the pool already')
        elif len(taint.key) > longest_key:
            inner.refuse("key", f"has {len(taint.key)} characters; the cloud takes {longest_key} at most")
        elif any((taint.key, taint.effect) == (other.key, other.effect) for other in taints):
            inner.refuse("key", f'"{taint.key}" is there twice with effect {taint.effect}')
        taints.append(taint)
    return taints


def read_labels(
    read: InputReader, ours: Mapping[str, str], *, longest_key: int = LONGEST_KEY
) -> dict[str, pulumi.Input[str]]:
    """Return a pool's labels: the user's beside ours, which cannot be changed."""
    labels = read.labels("labels")
    for key in reserved_labels(labels):
        read.refuse(f"labels.{key}", "is set by this component: DRA driver and device plugin find their nodes by it")
    for key, value in labels.items():
        if not re.fullmatch(LABEL_KEY, key):
            read.refuse(f"labels.{key}", "is no label key")
        elif len(key) > longest_key:
            read.refuse(f"labels.{key}", f"has {len(key)} characters; the cloud takes {longest_key} at most")
        if isinstance(value, str) and not re.fullmatch(LABEL_VALUE, value):
            read.refuse(f"labels.{key}", f'"{value}" is no label value')
    return {**labels, **ours}
