"""Check whether a kubeconfig selects a cluster, as the real provider does when it's configured."""

from __future__ import annotations

from pathlib import Path

import yaml


class Unreachable(Exception):
    """The kubeconfig doesn't select a cluster. The message contains the reason."""


def server_of(kubeconfig: str, context: str = "") -> str:
    """Return the address of the API server that a kubeconfig (its text, or the path of a file)
    selects. Raises Unreachable with the reason if there is none.
    """
    server = active_cluster(kubeconfig, context).get("server")
    if not isinstance(server, str) or not server.startswith(("https://", "http://")):
        raise Unreachable("the kubeconfig's cluster doesn't have a server address")
    return server


def active_cluster(kubeconfig: str, context: str = "") -> dict[str, object]:
    """Return the settings of the cluster that a kubeconfig selects. Raises Unreachable as
    `server_of` does.
    """
    document = _document(kubeconfig)
    chosen = context or str(document.get("current-context") or "")
    contexts = _named(document, "contexts", "context")
    if chosen not in contexts:
        raise Unreachable(f'the kubeconfig doesn\'t have the context "{chosen}"')
    cluster = _named(document, "clusters", "cluster").get(str(contexts[chosen].get("cluster")))
    if cluster is None:
        raise Unreachable(f'the kubeconfig doesn\'t have the cluster of context "{chosen}"')
    if contexts[chosen].get("user") not in _named(document, "users", "user"):
        raise Unreachable(f'the kubeconfig doesn\'t have the user of context "{chosen}"')
    return cluster


def _document(kubeconfig: str) -> dict[str, object]:
    if not kubeconfig:
        raise Unreachable(
            "the provider doesn't have a kubeconfig; pass a kubeconfig to the provider"
        )
    text = kubeconfig
    if "\n" not in text and not text.lstrip().startswith("{"):
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8")
        except OSError as error:
            raise Unreachable(
                f"can't read the kubeconfig file {kubeconfig}: {error.strerror}"
            ) from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Unreachable(f"unable to load Kubernetes client configuration: {error}") from error
    if not isinstance(document, dict):
        raise Unreachable(
            "unable to load Kubernetes client configuration: the kubeconfig is not a mapping"
        )
    return document


def _named(
    document: dict[str, object], collection: str, member: str
) -> dict[str, dict[str, object]]:
    """Return the members of a list of named entries, by name."""
    entries = document.get(collection)
    found: dict[str, dict[str, object]] = {}
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get(member), dict):
            found[str(entry.get("name"))] = entry[member]
    return found
