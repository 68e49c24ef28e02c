"""Description of a kind: the places of its pod templates and counts, and the scalers of the
counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.documents.tree import Map, child, clone, step
from dra_planner.errors import Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.needed_objects import needed_objects
from dra_planner.manifests.parsing.pods import parse_pod_spec, parse_pod_template, ways_past_claims
from dra_planner.manifests.schema.decoding import decode
from dra_planner.manifests.validation.pods.specs import check_pods_of_others
from dra_planner.manifests.validation.violations import TEMPLATED, Violation, invalid
from dra_planner.manifests.workloads.pod_counts import (
    NO_SURGE,
    Bounds,
    Surge,
    count_job_pods,
    count_pods,
    share_of,
)
from dra_planner.manifests.workloads.volume_zones import (
    claimed_volumes,
    needed_classes,
    own_volumes,
    with_new_volumes,
)
from dra_planner.model import Figures, PodSet, PodTemplate, Rollout
from dra_planner.releases import MINIMUM_MINOR, features_of
from dra_planner.wording import listed

POD_TEMPLATE = "core.PodTemplateSpec"
POD_SPEC = "core.PodSpec"

KUEUE_QUEUE: Final = "kueue.x-k8s.io/queue-name"
"""Label of an object that Kueue suspends until its quota allows it
(kubernetes-sigs/kueue:pkg/controller/constants).
"""

_PARAMETER: Final = re.compile(r"\{\{.*?\}\}")
SUSPENDED: Final = "is suspended, so its pods count only at ceiling and peak demand"
"""The assumption about an object that currently doesn't create pods."""
_DEFAULT_QUEUE: Final = "default"
"""LocalQueue of objects that don't name one
(kubernetes-sigs/kueue:pkg/controller/constants@v0.19.2, LocalQueueDefaulting).
"""


class ObjectPart(Struct, frozen=True):
    """A part of an object and its place."""

    data: Any
    place: Place

    def at(self, path: str) -> ObjectPart:
        """Return the part below a dotted path. Its data is None if it doesn't exist."""
        node = self
        for key in path.split(".") if path else ():
            data = node.data.get(key) if isinstance(node.data, dict) else None
            node = ObjectPart(data, child(node.place, node.data, key))
        return node

    def get(self, path: str, default: Any = None) -> Any:
        """Return the data below a dotted path, or the default if it doesn't exist."""
        data = self.data
        for key in path.split("."):
            data = data.get(key) if isinstance(data, dict) else None
        return default if data is None else data

    def number(self, path: str, default: int) -> int:
        """Return an integer below a dotted path. Text with an integer is accepted, and other values
        give the default.
        """
        value = self.get(path)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return default
        try:
            return int(value)
        except ValueError:
            return default

    def members(self) -> Iterator[tuple[str, ObjectPart]]:
        """Yield the members of a list (identified by their `name`) or of a mapping (identified by
        their key).
        """
        if isinstance(self.data, dict):
            for key, item in self.data.items():
                yield str(key), ObjectPart(item, child(self.place, self.data, key))
        elif isinstance(self.data, list):
            for index, item in enumerate(self.data):
                name = item.get("name") if isinstance(item, dict) else None
                yield (
                    str(name if name is not None else index),
                    ObjectPart(item, child(self.place, self.data, index)),
                )


Count = Callable[[ObjectPart], int]


class Role(Struct, frozen=True, kw_only=True):
    """Pods of one template.

    `template` and the counts are paths below each item of `each` (or below the object).
    """

    template: str
    each: str = ""  # path of a list or mapping of roles; "" is the object itself
    name: str = ""
    replicas: str = ""  # "" means one
    default: int = 1
    pods: Count | None = None  # pods per replica; one if this is missing


class WorkloadKind(Struct, frozen=True, kw_only=True):
    """One kind of workload. `roles` describes most kinds, and `read` is a function for the
    others.
    """

    group: str
    kind: str
    roles: Sequence[Role] = ()
    read: Callable[[Reading], list[PodSet]] | None = None
    suspend: str = ""
    surge: Callable[[ObjectPart], Surge] | None = None
    per_node: bool = False
    # the rollout of the role's replicas
    rollout: Callable[[ObjectPart, int], Rollout | None] | None = None
    container_name: str = ""  # requests that the controller sets for containers without requests
    spreads: bool = False  # the pods belong to a ReplicaSet, StatefulSet, or ReplicationController
    may_be_empty: bool = False  # an object without members of its roles doesn't create pods

    def is_empty(self, root: ObjectPart) -> bool:
        """Return True if an object certainly doesn't create pods."""
        return self.may_be_empty and not any(root.get(role.each) for role in self.roles)


class UnknownPods(Struct, frozen=True):
    """Pods that an object creates, but whose templates are unknown. `fix` is what makes them known,
    if it isn't another manifest.
    """

    reason: str
    figures: Figures
    fix: str = ""


def _nothing(kind: str, name: str) -> KubernetesObject | None:
    return None


def _no_pods(item: KubernetesObject) -> list[PodSet]:
    return []


class Reading(Struct):
    """One object that is being read: its kind, the limits of its scaler, and the results and
    assumptions so far.

    `lookup` returns another object by kind and name. `nested` reads an object that is wrapped in
    this one.
    """

    object: KubernetesObject
    kind: WorkloadKind
    scaler: Bounds | None = None
    lookup: Callable[[str, str], KubernetesObject | None] = _nothing
    nested: Callable[[KubernetesObject], list[PodSet]] = _no_pods
    minor: int = MINIMUM_MINOR
    checks_pods: bool = False
    assumptions: list[str] = []
    faults: list[Violation] = []
    unknown: list[UnknownPods] = []
    # unknown facts about the number of pods, such as a field that might multiply it
    uncounted: list[str] = []
    # claim specs by the names of claim templates
    generated: dict[str, Mapping[str, Any]] = {}

    @property
    def root(self) -> ObjectPart:
        return ObjectPart(self.object.data, self.object.place)

    @property
    def bounds(self) -> Bounds | None:
        """The limits of the object's scaler. Using them records an assumption."""
        if self.scaler is not None and self.scaler.description:
            self.assume(self.scaler.description)
        return self.scaler

    @property
    def suspended(self) -> bool:
        """True if the object currently doesn't create pods. An object that waits for Kueue counts
        as admitted.
        """
        if not self.kind.suspend or self.root.get(self.kind.suspend) is not True:
            return False
        if self.queue is None:
            self.assume(SUSPENDED)
            return True
        assumption = (
            f'is suspended until Kueue admits it from the queue "{self.queue}", but the plan '
            "counts its pods as admitted"
        )
        self.assume(assumption)
        return False

    @property
    def queue(self) -> str | None:
        """The object's Kueue queue, including its namespace's default queue, or None."""
        labels = self.object.metadata.get("labels")
        name = labels.get(KUEUE_QUEUE) if isinstance(labels, Mapping) else None
        if name:
            return str(name)
        default = self.lookup("LocalQueue", _DEFAULT_QUEUE)
        return (
            _DEFAULT_QUEUE
            if default is not None and default.namespace == self.object.namespace
            else None
        )

    def assume(self, text: str) -> None:
        if text not in self.assumptions:
            self.assumptions.append(text)

    def unresolved(self, reason: str, figures: Figures, fix: str = "") -> None:
        """Report pods that are created but can't be read."""
        self.unknown.append(UnknownPods(reason, figures, fix))

    def generate(self, name: str, spec: Mapping[str, Any]) -> str:
        """Record a claim template that the object's controller creates, and return its name."""
        full = f"{self.object.name}-{name}"
        self.generated[full] = spec
        self.assume(f"its controller creates ResourceClaimTemplate {full}")
        return full

    def pod_set(
        self, name: str, template: ObjectPart, figures: Figures, *, inline: bool = False
    ) -> list[PodSet]:
        """Return the pod set of a template (or of a pod spec, with `inline`), or nothing if there
        is no template.

        For kinds whose fields the API server doesn't know, the pods are checked here, because
        errors otherwise appear only when they're created.
        """
        data = {"spec": template.data} if inline else template.data
        if not isinstance(data, Mapping) or not isinstance(data.get("spec"), Mapping):
            return []
        least = min(each for each in figures if each is not None)
        if least < 0:
            self.faults.append(
                invalid(template.place.path, least, "its pod count must not be negative")
            )
            return []
        if self.checks_pods:
            checked = self._checked(template, inline, figures)
            if checked is None:
                return []
            data = {"spec": checked} if inline else checked
        if inline:
            parsed = PodTemplate(
                spec=parse_pod_spec(data["spec"], template.place),
                past_claims=ways_past_claims(data["spec"]),
                needs=needed_objects(data["spec"]),
                place=template.place,
            )
        else:
            parsed = replace(parse_pod_template(data, template.place), written=data)
        if "uid" not in self.object.metadata:
            parsed = self._with_new_volumes(parsed, data)
        return [
            PodSet(
                name=name,
                template=parsed,
                figures=figures,
                per_node=self.kind.per_node,
                spreads=self.kind.spreads,
                rollout=None
                if self.kind.rollout is None
                else self.kind.rollout(self.root, figures.steady),
            )
        ]

    def _with_new_volumes(self, template: PodTemplate, data: Any) -> PodTemplate:
        """Return the template without the volumes that are created where its pods run.

        If pods share a volume, all further pods must run in its zone.
        """
        own = list(own_volumes(data["spec"]))
        claimed = list(claimed_volumes(data["spec"], self.object.namespace, self.lookup))
        pod = with_new_volumes(template.spec, own, self.lookup)
        pod = with_new_volumes(pod, claimed, self.lookup)
        classes = needed_classes([*own, *claimed], self.lookup)
        return replace(template, spec=pod, needs=(*template.needs, *classes))

    def _checked(self, template: ObjectPart, inline: bool, figures: Figures) -> Any:
        """Return a decoded template.

        If the API server would reject its pods, report the errors and return None. If the errors
        are parameters that the controller replaces, the pods are unknown.
        """
        path = template.place.path
        name = self.kind.container_name
        data = _with_names(template.data, inline, name) if name else template.data
        decoded = decode(data, POD_SPEC if inline else POD_TEMPLATE, "Pod", self.minor, "lenient")
        faults = [
            replace(violation, field=step(path, violation.field))
            for violation in decoded.violations
        ]
        if not faults:
            faults = list(
                check_pods_of_others(decoded.data, path, features_of(self.minor), inline=inline)
            )
        self.faults += faults
        if faults and self.object.group in TEMPLATED:
            self._report_parameter(faults, figures)
        return None if faults else decoded.data

    def _report_parameter(self, faults: Sequence[Violation], figures: Figures) -> None:
        """Report that pods are unknown if parameters are the only cause of the faults."""
        found = [_PARAMETER.search(each.text) for each in faults]
        names = list(dict.fromkeys(each[0] for each in found if each is not None))
        if None not in found:
            shown = listed(names)
            reason = f"{faults[0].field} contains {shown}, which is known only at run time"
            self.unresolved(reason, figures, f"write fixed values instead of {shown}")

    def figures(
        self, replicas: int, *, pods: int = 1, bounds: Bounds | None = None, surge: Surge = NO_SURGE
    ) -> Figures:
        """Return the figures, adjusted for whether the object is suspended."""
        return count_pods(
            replicas, pods_per_replica=pods, bounds=bounds, surge=surge, suspended=self.suspended
        )


def _with_names(template: Any, inline: bool, name: str) -> Any:
    """Return a pod template (or a pod spec, with `inline`) in which every container has a name."""
    named = clone(template)
    spec = named if inline else named.get("spec")
    containers = spec.get("containers") if isinstance(spec, Map) else None
    for index, container in enumerate(containers if isinstance(containers, list) else ()):
        if isinstance(container, Map) and not container.get("name"):
            container.put("name", name if index == 0 else f"{name}-{index}", container.line)
    return named


def read_pod_sets(reading: Reading) -> list[PodSet]:
    """Return the pod sets of an object, from the description of its kind."""
    if reading.kind.read is not None:
        return reading.kind.read(reading)
    sets: list[PodSet] = []
    for role in reading.kind.roles:
        if not role.each:
            sets += _read_role(reading, role, role.name, reading.root)
            continue
        for name, node in reading.root.at(role.each).members():
            sets += _read_role(reading, role, name, node)
    return sets


def _read_role(reading: Reading, role: Role, name: str, node: ObjectPart) -> list[PodSet]:
    replicas = node.number(role.replicas, role.default) if role.replicas else 1
    surge = reading.kind.surge(reading.root) if reading.kind.surge is not None else NO_SURGE
    figures = reading.figures(
        replicas, pods=role.pods(node) if role.pods else 1, bounds=reading.bounds, surge=surge
    )
    sets = reading.pod_set(name, node.at(role.template), figures)
    is_counted = not role.replicas or node.get(role.replicas) is not None
    return sets if is_counted else [replace(each, is_counted=False) for each in sets]


def job_pods(path: str) -> Count:
    """Return the function that counts the pods of the Job spec at a path."""

    def count(node: ObjectPart) -> int:
        spec = node.get(path) if path else node.data
        return count_job_pods(spec) if isinstance(spec, Mapping) else 1

    return count


def rolling_update(
    path: str, default: int | str = "25%", *, field: str = "rollingUpdate.maxSurge"
) -> Callable[[ObjectPart], Surge]:
    """Return the surge of the strategy at a path. `Recreate` and paused rollouts have none."""

    def surge(root: ObjectPart) -> Surge:
        is_paused = root.get("spec.paused") is True
        if is_paused or root.get(f"{path}.type", "RollingUpdate") in ("Recreate", "OnDelete"):
            return NO_SURGE
        return Surge(root.get(f"{path}.{field}", default))

    return surge


def rolling_pods(path: str) -> Callable[[ObjectPart, int], Rollout]:
    """Return how many pods the strategy at a path can add and remove.

    `Recreate` removes all pods first. A paused rollout keeps all pods. Source:
    kubernetes/kubernetes:pkg/controller/deployment/util/deployment_util.go@v1.36.3
    (ResolveFenceposts), recreate.go@v1.36.3 (rolloutRecreate: no new pods while old pods exist).
    """

    def rollout(root: ObjectPart, replicas: int) -> Rollout:
        if root.get("spec.paused") is True:
            return Rollout(0, 0, kept=replicas)
        if root.get(f"{path}.type", "RollingUpdate") == "Recreate":
            return Rollout(0, replicas, recreates=True)
        surge = Surge(root.get(f"{path}.rollingUpdate.maxSurge", "25%")).of(replicas)
        unavailable = share_of(root.get(f"{path}.rollingUpdate.maxUnavailable", "25%"), replicas)
        return Rollout(surge, unavailable if surge or unavailable else 1)

    return rollout


def one_by_one(root: ObjectPart, replicas: int) -> Rollout | None:
    """Return the rollout that replaces one pod at a time, starting at the partition.

    `OnDelete` doesn't replace any.
    """
    if root.get("spec.updateStrategy.type", "RollingUpdate") == "OnDelete":
        return None
    return Rollout(0, 1, kept=root.number("spec.updateStrategy.rollingUpdate.partition", 0))


def node_by_node(root: ObjectPart, replicas: int) -> Rollout | None:
    """Return the rollout of a DaemonSet, with the number of nodes on which pods are replaced at the
    same time. `OnDelete` doesn't replace any.
    """
    if root.get("spec.updateStrategy.type", "RollingUpdate") == "OnDelete":
        return None
    path = "spec.updateStrategy.rollingUpdate"
    given = [str(root.get(f"{path}.{name}", 0)).strip() for name in ("maxSurge", "maxUnavailable")]
    surge, unavailable = (int(each.removesuffix("%") or 0) for each in given)
    is_share = any(each.endswith("%") for each in given)
    return Rollout(surge, unavailable if surge or unavailable else 1, of_nodes=is_share)
