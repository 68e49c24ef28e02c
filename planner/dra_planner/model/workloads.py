"""Workloads: objects that create pods, and the numbers of their simultaneous pods."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.objects import ObjectMeta
from dra_planner.model.pods import PodTemplate
from dra_planner.records import equality

DemandLevel = Literal["floor", "steady", "ceiling", "peak"]
DEMAND_LEVELS: tuple[DemandLevel, ...] = ("floor", "steady", "ceiling", "peak")


class Figures(NamedTuple):
    """Numbers of simultaneous pods at four levels.

    None means unlimited. floor: the minimum of its scalers. steady: the replicas in the manifest.
    ceiling: the maximum of its scalers. peak: ceiling plus the surge of a rollout. Reports call
    them min, declared, max, and surge.
    """

    floor: int
    steady: int
    ceiling: int | None
    peak: int | None

    @classmethod
    def fixed(cls, pods: int) -> Figures:
        """Return figures for a workload without scalers and rollout surge."""
        return cls(pods, pods, pods, pods)

    def at(self, level: DemandLevel) -> int | None:
        """Return the figure at that level."""
        return self[DEMAND_LEVELS.index(level)]

    def at_most(self, pods: int) -> Figures:
        """Return the figures, each limited to this number of pods."""
        return Figures(*(pods if own is None else min(own, pods) for own in self))

    def __add__(self, other: object) -> Figures:
        if not isinstance(other, Figures):
            return NotImplemented
        return Figures(
            self.floor + other.floor,
            self.steady + other.steady,
            None if self.ceiling is None or other.ceiling is None else self.ceiling + other.ceiling,
            None if self.peak is None or other.peak is None else self.peak + other.peak,
        )


class WorkloadRef(NamedTuple):
    """The name of a workload in answers."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def pod_name(self, index: int) -> str:
        """Return the pod's name in answers: <workload>-<index>, or a bare pod's own name."""
        return self.name if self.kind == "Pod" else f"{self.name}-{index}"


class Rollout(NamedTuple):
    """Limits of a rollout: additional pods, and unavailable pods.

    `kept` pods keep the earlier template: all pods of a paused Deployment, or a StatefulSet's pods
    below the partition. `of_nodes` means that percentages refer to a DaemonSet's nodes. With
    `recreates`, no new pod is created while an old pod exists.
    """

    surge: int
    unavailable: int
    kept: int = 0
    of_nodes: bool = False
    recreates: bool = False


class NewFirst(NamedTuple):
    """An update of a controller that starts `pods` new pods of a pod set before it stops old ones.

    With `together`, the new pods of all pod sets of the workload must run at the same time. `cause`
    is the reason as a clause, and `fix` is a change of the workload that avoids this, or "". Older
    controllers never start these pods if `old_controllers` describes this as a clause.
    `upgrade` is then the version to install, as an imperative.
    """

    pods: int
    cause: str
    fix: str
    together: bool = False
    old_controllers: str = ""
    upgrade: str = ""


class PodSet(Struct, frozen=True, kw_only=True):
    """Pods with one template in a workload.

    Most workloads have one pod set, but some (such as RayCluster) have several.
    """

    name: str = ""  # role, for example "worker" or "head"; "" if there is only one
    template: PodTemplate
    figures: Figures
    per_node: bool = False  # DaemonSet: one pod on every node that its template accepts
    in_order: bool = False  # StatefulSet: the next pod is created when the previous pod runs
    # the scheduler spreads them by default, because a ReplicaSet or StatefulSet owns them
    spreads: bool = False
    # how pods with another template are replaced; None if they aren't replaced
    rollout: Rollout | None = None
    # how updates start, for controllers other than those of Kubernetes
    new_first: NewFirst | None = None
    # True if the manifest sets the count; otherwise, a scaler sets it, and a cluster contains the
    # value
    is_counted: bool = True
    # Job: number of pods that can still run at the same time, from its status; None if the status
    # doesn't contain it
    left: int | None = None
    assumptions: tuple[str, ...] = ()


@equality(ignored=("place",))
class Workload(Struct, frozen=True, kw_only=True):
    """An object that creates pods."""

    kind: str
    api_version: str
    meta: ObjectMeta
    pod_sets: tuple[PodSet, ...]
    assumptions: tuple[str, ...] = ()
    place: Place = NOWHERE

    @property
    def ref(self) -> WorkloadRef:
        return WorkloadRef(self.kind, self.meta.namespace, self.meta.name)


class ExclusiveGroups(Struct, frozen=True, kw_only=True):
    """Groups of a workload's pods that each need their own value of the node label `key`, because
    of an annotation.
    """

    workload: WorkloadRef
    annotation: str
    key: str
    groups: int
