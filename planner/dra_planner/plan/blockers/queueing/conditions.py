"""Conditions that a queue of Kueue sets before it counts quotas: stopped admission, namespaces, and
topologies.

Source: kubernetes-sigs/kueue:apis/kueue/v1beta2/clusterqueue_types.go (stopPolicy,
namespaceSelector), pkg/cache/scheduler/clusterqueue.go, and
pkg/scheduler/flavorassigner/tas_flavorassigner.go@v0.19.2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from dra_planner.allocation.node.selectors import labels_match
from dra_planner.manifests import Manifests
from dra_planner.manifests.completeness import is_missing
from dra_planner.manifests.rendering.fields import render_label_selector
from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE
from dra_planner.model import ClusterQueue, ObjectKey, Verdict, Workload
from dra_planner.wording import listed, use_one_of

_GROUP: Final = "kueue.x-k8s.io/podset-"
_NAMED_LEVELS: Final = (f"{_GROUP}required-topology", f"{_GROUP}preferred-topology")
_TOPOLOGIES: Final = (*_NAMED_LEVELS, f"{_GROUP}unconstrained-topology")
"""Annotations of pods that request a topology. The first two name one of its levels."""
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


class UnmetCondition(Struct, frozen=True):
    """A condition that a workload doesn't meet, or might not meet."""

    text: str
    fix: str
    verdict: Verdict = "does-not-fit"


def find_unmet_conditions(
    workload: Workload, queue: ClusterQueue, manifests: Manifests
) -> Iterator[UnmetCondition]:
    """Yield the conditions of a workload's queue that prevent its admission."""
    yield from _stopped(workload, queue, manifests)
    yield from _namespaces(workload, queue, manifests)
    yield from _topologies(workload, queue, manifests)


def _stopped(
    workload: Workload, queue: ClusterQueue, manifests: Manifests
) -> Iterator[UnmetCondition]:
    key = ObjectKey(workload.meta.namespace, workload.meta.labels[KUEUE_QUEUE])
    stopped = {f'LocalQueue "{key}"': manifests.queues.stopped.get(key, "")}
    stopped[f'ClusterQueue "{queue.name}"'] = queue.stop_policy
    for name, policy in stopped.items():
        if policy:
            yield UnmetCondition(
                f"{name} has stopPolicy {policy}, so Kueue doesn't admit pods from it",
                f"set stopPolicy to None in {name}",
            )


def _namespaces(
    workload: Workload, queue: ClusterQueue, manifests: Manifests
) -> Iterator[UnmetCondition]:
    name, selector = workload.meta.namespace, queue.namespaces
    if selector is None:
        yield UnmetCondition(
            f"ClusterQueue \"{queue.name}\" doesn't set namespaceSelector, so it doesn't admit pods "
            "from any namespace",
            "to admit pods from all namespaces, set namespaceSelector to {} in ClusterQueue "
            f'"{queue.name}"',
        )
        return
    found = manifests.namespaces.get(name)
    labels = {**(found.labels if found is not None else {}), _NAME_LABEL: name}
    if labels_match(selector, labels):
        return
    shown = json.dumps(render_label_selector(selector))
    if found is None and any(each.key != _NAME_LABEL for each in selector.requirements):
        yield UnmetCondition(
            f'ClusterQueue "{queue.name}" admits only pods from namespaces that match {shown}, '
            f'but Namespace "{name}" isn\'t in the manifests, so its labels are unknown',
            f'add a manifest for Namespace "{name}"',
            "cannot-tell",
        )
    else:
        yield UnmetCondition(
            f'ClusterQueue "{queue.name}" admits only pods from namespaces that match {shown}, '
            f'but the labels of Namespace "{name}" don\'t match',
            f'change the labels of Namespace "{name}", or change namespaceSelector in '
            f'ClusterQueue "{queue.name}"',
        )


def _topologies(
    workload: Workload, queue: ClusterQueue, manifests: Manifests
) -> Iterator[UnmetCondition]:
    queues = manifests.queues
    flavors = [queues.flavors[each] for each in queues.flavors_of(queue)]
    known = {each.topology for each in flavors} - {""}
    for pod_set in workload.pod_sets:
        wanted = {key: pod_set.template.annotations.get(key) for key in _TOPOLOGIES}
        for key, level in wanted.items():
            if level is None:
                continue
            if not known:
                yield UnmetCondition(
                    f"its pods have the annotation {key}, but no flavor of ClusterQueue "
                    f'"{queue.name}" has a topology, so Kueue never admits them',
                    f'set topologyName in ResourceFlavor "{flavors[0].name}"'
                    if flavors
                    else f"remove the {key} annotation",
                )
            elif missing := sorted(known - queues.topologies.keys()):
                yield _missing_topology(queue, missing[0], manifests)
            elif key in _NAMED_LEVELS:
                levels = {each for name in known for each in queues.topologies[name]}
                if level not in levels:
                    names = listed(f'"{each}"' for each in sorted(known))
                    yield UnmetCondition(
                        f"its pods request the topology level {level}, but Topology {names} "
                        "doesn't have this level, so Kueue never admits them",
                        use_one_of("level", sorted(levels)),
                    )


def _missing_topology(queue: ClusterQueue, name: str, manifests: Manifests) -> UnmetCondition:
    needs, fix = f'ClusterQueue "{queue.name}" needs', f'add a manifest for Topology "{name}"'
    if is_missing(manifests, "Topology", name):
        return UnmetCondition(
            f'{needs} Topology "{name}", but nothing in the manifests defines it, so Kueue never '
            "admits the pods",
            fix,
        )
    return UnmetCondition(
        f"{needs} Topology \"{name}\", which isn't in the manifests, so Kueue doesn't admit the "
        "pods until the topology exists",
        fix,
        "cannot-tell",
    )
