"""Charts and kustomizations that a command line names, rendered by `helm` and `kustomize`.

Only folders that are named themselves are rendered. Files in a folder that holds a chart stay what they are.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_planner.sources import KUSTOMIZATIONS, Source

_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Rendered:
    """The paths that remain to be read, and the manifests that charts and kustomizations render to."""

    paths: tuple[str, ...]
    sources: tuple[Source, ...]


def render_paths(values: argparse.Namespace) -> Rendered:
    """Render the charts and kustomizations among the named paths.

    Nothing is rendered for commands that change files or keep a plan, because both are about the files themselves.
    Raises UsageError if `helm` or `kustomize` fails, or if values for a chart are given without a chart.
    """
    keeps_files = any(getattr(values, name, False) for name in ("write", "check", "fix", "rewrite", "diff"))
    given = getattr(values, "values_files", []) + getattr(values, "set_values", [])
    charts = [path for path in values.paths if _is_chart(path)]
    if given and not charts:
        raise UsageError("--values is for a chart, and none is named", fix="name the folder that holds Chart.yaml")
    if keeps_files:
        return Rendered(tuple(values.paths), ())
    paths: list[str] = []
    sources: list[Source] = []
    for path in values.paths:
        words = _renderer(path, values)
        if words is None:
            paths.append(path)
        else:
            sources.append(Source(f"{path.rstrip('/')} (rendered)", _run(words, path)))
    return Rendered(tuple(paths), tuple(sources))


def _is_chart(path: str) -> bool:
    return (Path(path) / "Chart.yaml").is_file()


def _is_whole_kustomization(folder: Path) -> bool:
    """Return whether a kustomization names every manifest in its folder, so that building it leaves none out."""
    found = next((folder / name for name in sorted(KUSTOMIZATIONS) if (folder / name).is_file()), None)
    if found is None:
        return False
    text = found.read_text(encoding="utf-8", errors="replace")
    files = [each for pattern in ("*.yaml", "*.yml", "*.json") for each in folder.glob(pattern)]
    return all(each.name in text for each in files if each.name not in KUSTOMIZATIONS)


def _renderer(path: str, values: argparse.Namespace) -> list[str] | None:
    """Return the command that renders a folder; None if it needs none, or if no tool for it is on PATH.

    Without the tool, the files are read as they are, and a note says which command renders them.
    """
    if _is_chart(path):
        helm = shutil.which("helm")
        if helm is None:
            return None
        files = [word for file in getattr(values, "values_files", []) for word in ("--values", file)]
        settings = [word for each in getattr(values, "set_values", []) for word in ("--set", each)]
        version = ["--kube-version", values.kubernetes] if getattr(values, "kubernetes", None) else []
        return [helm, "template", _release_name(path), path, *files, *settings, *version]
    if _is_whole_kustomization(Path(path)):
        kustomize, kubectl = shutil.which("kustomize"), shutil.which("kubectl")
        if kustomize is not None:
            return [kustomize, "build", path]
        return [kubectl, "kustomize", path] if kubectl is not None else None
    return None


def _release_name(path: str) -> str:
    """Return a release name that helm accepts: the folder's, as far as it's a DNS label."""
    name = "".join(each if each.isalnum() else "-" for each in Path(path).resolve().name.lower()).strip("-")
    return name[:53] or "release"


def _run(words: Sequence[str], path: str) -> str:
    tool = f"{Path(words[0]).name} {words[1]}"
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise UsageError(
            f"{tool} didn't finish within {_SECONDS} s for {path}", fix="render it yourself, and name -"
        ) from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise UsageError(f"{tool} can't render {path}: {said[-1]}", fix=f"try {' '.join([tool, *words[2:]])}")
    return done.stdout
