"""`pulumi-dra explain --events NAMESPACE/POD --observed FILE`: explain the events of a pod, with
fixes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_command.command_line.arguments import UsageError
from dra_command.explain.message.run import print_meanings
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.sources import read_sources
from dra_planner.wording import use_one_of

_ABOUT: Final = ("involvedObject", "regarding")  # of v1 and of events.k8s.io/v1
_WORDS: Final = ("reason", "message", "note")


def explain_events(values: argparse.Namespace) -> int:
    """Print the meaning of known messages among the events. Return 3 if none is known. Raises
    PlannerError.
    """
    if not values.observed:
        fix = "run `kubectl get pods,events -A -o json > cluster.json`, and add --observed cluster.json"
        raise UsageError("--events needs a snapshot of the cluster", fix=fix)
    documents, _ = read_documents(read_sources([values.observed]))
    objects = read_objects(documents)
    namespace, _, name = values.events.rpartition("/")
    messages = list(_event_messages(objects, namespace or "default", name))
    if not messages:
        pods = sorted(f"{item.namespace}/{item.name}" for item in objects if item.kind == "Pod")
        events = "add the output of `kubectl get events -A -o json` to the snapshot"
        fix = f"{use_one_of('pod', pods[:10])}, or {events}" if pods else events
        raise UsageError(f'the snapshot doesn\'t contain events of Pod "{values.events}"', fix=fix)
    return print_meanings("\n".join(dict.fromkeys(messages)), values.format)


def _event_messages(objects: list[KubernetesObject], namespace: str, name: str) -> Iterator[str]:
    """Yield the messages of a pod's events, then those of its conditions that aren't true."""
    for item in objects:
        given = [item.data[key] for key in _ABOUT if isinstance(item.data.get(key), Mapping)]
        about: Mapping[str, Any] = given[0] if given else {}
        of_pod = (about.get("kind"), about.get("name"), about.get("namespace", "default")) == (
            "Pod",
            name,
            namespace,
        )
        if item.kind == "Event" and of_pod:
            yield " ".join(str(item.data[word]) for word in _WORDS if item.data.get(word))
    for item in objects:
        if (item.kind, item.namespace, item.name) == ("Pod", namespace, name):
            yield from _conditions(item.data.get("status"))


def _conditions(status: Any) -> Iterator[str]:
    for condition in (status.get("conditions") or ()) if isinstance(status, Mapping) else ():
        if (
            isinstance(condition, Mapping)
            and condition.get("status") == "False"
            and condition.get("message")
        ):
            yield str(condition["message"])
