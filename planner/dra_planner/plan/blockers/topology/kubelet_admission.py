"""New pods that the kubelet of their node rejects.

Their manifests name the node, so the scheduler doesn't check them. Source of the behavior:
kubernetes/kubernetes:pkg/kubelet/lifecycle/predicate.go@v1.36.3. The kubelet ignores extended
resources that the node doesn't have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dra_planner.allocation.node.ports import host_ports, ports_clash
from dra_planner.allocation.node.selectors import node_matches, untolerated_taint
from dra_planner.allocation.reasons.nodes import free_text
from dra_planner.manifests import BoundPod
from dra_planner.model import Node, PodSpec
from dra_planner.offers import Offer
from dra_planner.offers.requests import pod_requests
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.quantity import amount_of


def find_pods_refused_by_kubelets(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield new pods that fail as soon as their node's kubelet sees them.

    New pods on one node are admitted in the order of the manifests.
    """
    for offer in situation.offers:
        if all(pod.exists for pod in offer.pods):
            continue
        there = _Admitted(offer)
        for pod in offer.pods:
            if pod.exists:
                continue
            reason = there.refusal(pod.spec)
            if not reason:
                there.add(pod)
                continue
            yield Blocker(
                code="pod-cannot-be-scheduled",
                message=f"Pod {pod.meta.key}: spec.nodeName binds the pod to node "
                f"{offer.node.name} without the scheduler, but the kubelet rejects the pod, "
                f"because {reason}",
                fix="remove spec.nodeName, so that the scheduler chooses a node",
                place=pod.meta.place,
            )


class _Admitted:
    """The pods that a kubelet has admitted, with their resources and host ports."""

    def __init__(self, offer: Offer) -> None:
        self._node = offer.node
        self._used: Counter[str] = Counter()
        self._ports: frozenset[tuple[str, str, int]] = frozenset()
        for deduction in offer.deductions:
            self._used.update(deduction.amounts)
        for pod in offer.pods:
            if pod.exists:
                self.add(pod)

    def add(self, pod: BoundPod) -> None:
        self._used.update(pod_requests(pod.spec))
        self._ports |= host_ports(pod.spec)

    def refusal(self, pod: PodSpec) -> str:
        """Return why the kubelet rejects another pod, or "" if it admits it."""
        for name, requested in pod_requests(pod).items():
            total = self._node.allocatable.get(name, 0)
            left = max(0, total - self._used[name])
            if requested > left and (total or "/" not in name):
                if name == "pods":
                    return f"the node already runs its maximum of {total} pods"
                free = free_text(name, requested, left, total)
                return f"it requests {amount_of(name, requested)}, but {free}"
        port = ports_clash(host_ports(pod), self._ports)
        if port is not None:
            return f"another pod on the node already uses host port {port}"
        return _rule_of_node(pod, self._node)


def _rule_of_node(pod: PodSpec, node: Node) -> str:
    """Return which rule between pod and node fails, or ""."""
    labels, affinity = node.meta.labels, pod.node_affinity
    selects = all(labels.get(key) == value for key, value in pod.node_selector.items())
    if not selects or (affinity is not None and not node_matches(affinity, node)):
        return "the pod's node selector or affinity doesn't select the node"
    evicting = [taint for taint in node.taints if taint.effect == "NoExecute"]
    taint = untolerated_taint(evicting, pod.tolerations)
    if taint is None:
        return ""
    value = f"={taint.value}" if taint.value else ""
    return f"it doesn't tolerate the node's taint {taint.key}{value}:NoExecute"
