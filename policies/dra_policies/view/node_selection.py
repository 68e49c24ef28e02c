"""Whether a pod can run on a node. The nodes of a pool don't exist yet, so the answer can be
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from dra_planner.clouds import DRA, cloud
from dra_policies.unknown_values import UNKNOWN, Properties
from dra_policies.view.cloud_labels import labels_of_cloud
from dra_policies.view.stack_view import DeclaredPool

# Labels that node-feature-discovery and GPU feature discovery add to GPU nodes. Any GPU node can
# have them.
DISCOVERED: Final = ("feature.node.kubernetes.io/", "nvidia.com/")
# Labels that the kubelet and the cloud add, with values that aren't known in advance.
PROVIDED: Final = (
    "kubernetes.io/",
    "beta.kubernetes.io/",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "failure-domain.beta.kubernetes.io/",
    "k8s.io/",
)
REQUIRED_TERMS: Final = (
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
)


class _Anything:
    """A label that can be absent or have any value, so it might satisfy any selector."""


_ANYTHING: Final = _Anything()


def every(answers: Iterable[bool | None]) -> bool | None:
    """Return the three-valued conjunction of answers."""
    seen = set(answers)
    return False if False in seen else None if None in seen else True


def some(answers: Iterable[bool | None]) -> bool | None:
    """Return the three-valued disjunction of answers."""
    seen = set(answers)
    return True if True in seen else None if None in seen else False


def tolerations_text(keys: Iterable[str]) -> str:
    """Return tolerations of taints with these keys in YAML, without the brackets of the list."""
    return ", ".join(f"{{key: {key}, operator: Exists}}" for key in dict.fromkeys(keys))


def may_run_on(pod: Properties, pool: DeclaredPool) -> bool | None:
    """Return whether pods like this one can be placed on nodes of the pool."""
    return every((selects(pod, pool), affine(pod, pool), tolerates(pod, pool)))


def selects(pod: Properties, pool: DeclaredPool) -> bool | None:
    """Return whether the pod's nodeSelector accepts the pool's nodes."""
    wanted = pod.mapping("nodeSelector")
    if wanted is None:
        return None
    return every(_in(_label(pool, key), (value,)) for key, value in wanted.items())


def affine(pod: Properties, pool: DeclaredPool) -> bool | None:
    """Return whether the pod's required node affinity accepts the pool's nodes. No affinity accepts
    every node.
    """
    if pod.has(REQUIRED_TERMS.rpartition(".")[0]) is False:
        return True
    terms = pod.items(REQUIRED_TERMS)
    return None if terms is None else some(term_accepts(term, pool) for term in terms)


def term_accepts(term: Properties, pool: DeclaredPool) -> bool | None:
    """Return whether one of the ORed terms accepts the pool's nodes. An empty term accepts none."""
    expressions, fields = term.items("matchExpressions"), term.items("matchFields")
    if expressions is None or fields is None:
        return None
    if not expressions and not fields:
        return False
    # a field selector refers to the node's name, which isn't known yet
    names = [None for _ in fields]
    return every([*(_requirement(expression, pool) for expression in expressions), *names])


def _requirement(expression: Properties, pool: DeclaredPool) -> bool | None:
    key, operator, values = (
        expression.text("key"),
        expression.text("operator"),
        expression.texts("values"),
    )
    if key is None or operator is None or values is None:
        return None
    label = _label(pool, key)
    match operator:
        case "In":
            return _in(label, values)
        case "NotIn":
            return _not_in(label, values)
        case "Exists":
            return _exists(label)
        case "DoesNotExist":
            answer = _exists(label)
            return True if label is _ANYTHING else None if answer is None else not answer
        case _:
            return None


def _label(pool: DeclaredPool, key: str) -> Any:
    """Return the label's value, None if absent, UNKNOWN, or _ANYTHING."""
    if pool.labels is None:
        return UNKNOWN
    if key in pool.labels:
        value = pool.labels[key]
        return UNKNOWN if value is None else value
    if key == "node.kubernetes.io/instance-type":
        return UNKNOWN if pool.machine is None else pool.machine
    if key in ("kubernetes.io/os", "beta.kubernetes.io/os"):
        return "linux"
    if key == DRA:
        return None  # has NVIDIA's prefix, but only a pool's declaration sets it
    if key.startswith(DISCOVERED):
        return _ANYTHING
    of_cloud = labels_of_cloud(pool)
    if key in of_cloud:
        return of_cloud[key]
    return UNKNOWN if key.startswith((*PROVIDED, *cloud(pool.cloud).unknown_labels)) else None


def _in(label: Any, values: Iterable[str | None]) -> bool | None:
    if label is _ANYTHING:
        return True
    if label is None:
        return False
    if label is UNKNOWN:
        return None
    wanted = tuple(values)
    return True if label in wanted else None if None in wanted else False


def _not_in(label: Any, values: Iterable[str | None]) -> bool | None:
    if label is _ANYTHING:
        return True
    answer = _in(label, values)
    return None if answer is None else not answer


def _exists(label: Any) -> bool | None:
    if label is _ANYTHING:
        return True
    return None if label is UNKNOWN else label is not None


def tolerates(pod: Properties, pool: DeclaredPool) -> bool | None:
    """Return whether the pod tolerates every taint of the pool that keeps pods off."""
    tolerations = pod.items("tolerations")
    if pool.taints is None or tolerations is None:
        return None
    hard = [taint for taint in pool.taints if taint.effect != "PreferNoSchedule"]
    return every(
        some(
            _tolerates(toleration, taint.key, taint.value, taint.effect)
            for toleration in tolerations
        )
        for taint in hard
    )


def _tolerates(toleration: Properties, key: str, value: str, effect: str) -> bool | None:
    wanted_effect = toleration.text("effect")
    wanted_key, operator = toleration.text("key"), toleration.text("operator", "Equal")
    same_effect = None if wanted_effect is None else wanted_effect in ("", effect)
    same_key = (
        None
        if wanted_key is None
        else wanted_key == key or (not wanted_key and operator == "Exists")
    )
    if operator is None:
        same_value = None
    elif operator == "Exists":
        same_value = True
    else:
        wanted = toleration.text("value")
        same_value = None if wanted is None else wanted == value
    return every((same_effect, same_key, same_value))


def shown_term(term: Properties) -> str:
    """Return a term in readable form: `nvidia.com/gpu.present In [true]`."""
    parts: list[str] = []
    for expression in term.items("matchExpressions") or ():
        values = expression.texts("values")
        listed = (
            "…"
            if values is None
            else ", ".join("…" if value is None else value for value in values)
        )
        operator = expression.text("operator") or "…"
        shown = f"{expression.text('key') or '…'} {operator}"
        parts.append(f"{shown} [{listed}]" if operator in ("In", "NotIn", "Gt", "Lt") else shown)
    return " and ".join(parts) or "a term that matches nothing"
