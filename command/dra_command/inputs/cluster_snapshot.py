"""Take a snapshot of a cluster with kubectl, because kubectl supports every sign-in method."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.shared_options import CONTEXT
from dra_planner.documents.snapshot import SNAPSHOT_KINDS
from dra_planner.sources import Source, read_sources
from dra_planner.wording import use_one_of

_MOST_CONTEXTS = 20
_SECONDS = 60  # for a single request. A snapshot of 5,000 nodes needs several requests.


def read_observed(
    observed: str, kubeconfig: str = "", kinds: Sequence[str] = SNAPSHOT_KINDS
) -> tuple[Source, ...]:
    """Return the snapshot in a file, or take a snapshot of the running cluster in a kubectl
    context. Raises PlannerError if the file or the cluster can't be read.
    """
    if observed.startswith(CONTEXT):
        return (take_snapshot(kubeconfig, observed.removeprefix(CONTEXT), kinds),)
    return read_sources([observed]) if observed else ()


def take_snapshot(kubeconfig: str, context: str, kinds: Sequence[str]) -> Source:
    """Return the output of `kubectl get` for these kinds.

    Without a kubeconfig, kubectl uses its default. The command needs only permission to list these
    kinds. Raises UsageError if the file doesn't exist, kubectl isn't on PATH, or the cluster
    doesn't respond.
    """
    if kubeconfig and not Path(kubeconfig).is_file():
        wrong = "is a folder" if Path(kubeconfig).is_dir() else "doesn't exist"
        raise UsageError(
            f"{kubeconfig} {wrong}", fix="set --kubeconfig to the file that kubectl uses"
        )
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise UsageError(
            "kubectl isn't on PATH",
            fix=f"install kubectl. Or run `{_command(kinds, 'kubectl')} > cluster.json` "
            "elsewhere, and use --observed cluster.json",
        )
    words = _cluster_words(kubeconfig, context)
    done = _run(kubectl, *words, f"--request-timeout={_SECONDS}s", *_words(kinds))
    if done.returncode:
        if context and (known := _other_contexts(kubectl, kubeconfig, context)):
            raise UsageError(
                f'kubectl doesn\'t have a context "{context}"',
                fix=use_one_of("context", known),
            )
        errors = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise UsageError(
            f"kubectl couldn't read the cluster: {errors[-1]}",
            fix=f"to find the cause, run `{_command(kinds, 'kubectl', *words)}`",
        )
    return Source(name=kubeconfig or context, text=done.stdout)


def served_kinds(kubeconfig: str, context: str) -> frozenset[str]:
    """Return the kinds that a running cluster serves, such as `jobs.batch`. The set is empty
    without kubectl, or if the cluster doesn't respond.
    """
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return frozenset()
    words = (*_cluster_words(kubeconfig, context), f"--request-timeout={_SECONDS}s")
    done = _run(kubectl, *words, "api-resources", "--verbs=list", "-o", "name")
    return frozenset(done.stdout.split())


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=False)


def _cluster_words(kubeconfig: str, context: str) -> tuple[str, ...]:
    """Return the kubectl options that select a cluster."""
    return (
        *([f"--kubeconfig={kubeconfig}"] if kubeconfig else []),
        *([f"--context={context}"] if context else []),
    )


def _other_contexts(kubectl: str, kubeconfig: str, context: str) -> tuple[str, ...]:
    """Return the contexts in a kubeconfig. Empty if this context is among them, or if kubectl
    fails.
    """
    done = _run(kubectl, *_cluster_words(kubeconfig, ""), "config", "get-contexts", "-o", "name")
    names = () if done.returncode else tuple(done.stdout.split())
    return () if context in names else names[:_MOST_CONTEXTS]


def _words(kinds: Sequence[str]) -> tuple[str, ...]:
    return ("get", ",".join(kinds), "--all-namespaces", "-o", "json")


def _command(kinds: Sequence[str], *words: str) -> str:
    return " ".join((*words, *_words(kinds)))
