"""Charts that the user names, and the tools that render charts and kustomizations: `helm`, and
`kustomize` or `kubectl`.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from dra_command.command_line.arguments import UsageError
from dra_planner.sources import KUSTOMIZATION_FILES, Source, missing_path_error

RENDERED: Final = " (rendered)"
"""The suffix in the names of rendered manifests. The text before it is the folder."""
_CHANGE_FILES: Final = ("write", "check", "fix", "rewrite", "diff")


NO_BUILDER: Final = "neither kustomize nor kubectl is on PATH"


class Rendered(Struct, frozen=True):
    """The paths that remain to be read, and the manifests that charts and kustomizations render
    to.
    """

    paths: tuple[str, ...]
    sources: tuple[Source, ...]


def is_about_files(values: argparse.Namespace) -> bool:
    """Return whether a command changes files or saves a stack's plan. Such commands use the files
    themselves, so they don't render anything.
    """
    if values.command == "plan" and values.fleet:
        return False  # a plan file for manifests that the user named
    return any(getattr(values, name, False) for name in _CHANGE_FILES)


def render_paths(values: argparse.Namespace) -> Rendered:
    """Render the charts and kustomization files among the named paths.

    Only charts whose folder the user named are rendered. Files that the user names inside a chart's
    folder are read unchanged. Raises UsageError if `helm` fails, or if values for a chart are given
    without a chart, and SourceError if a file of values doesn't exist.
    """
    given = getattr(values, "values_files", []) + getattr(values, "set_values", [])
    if given and not any(map(is_chart, values.paths)):
        raise UsageError(
            "--values and --set require a chart",
            fix="pass the folder that contains Chart.yaml",
        )
    for file in getattr(values, "values_files", []):
        if "://" not in file and not Path(file).exists():
            raise missing_path_error(file)
    if is_about_files(values):
        return Rendered(tuple(values.paths), ())
    paths: list[str] = []
    sources: list[Source] = []
    for path in values.paths:
        words = _renderer(path, values)
        if words is None:
            paths.append(path)
        else:
            folder = (os.path.dirname(path) or ".") if _is_kustomization(path) else path.rstrip("/")
            sources.append(Source(f"{folder}{RENDERED}", run_renderer(words, folder)))
    return Rendered(tuple(paths), tuple(sources))


def is_chart(folder: str | Path) -> bool:
    """Return whether a folder holds a chart."""
    return (Path(folder) / "Chart.yaml").is_file()


def kustomization_of(folder: Path) -> Path | None:
    """Return the kustomization file of a folder, or None if it has none."""
    return next((folder / name for name in KUSTOMIZATION_FILES if (folder / name).is_file()), None)


def helm_template() -> list[str] | None:
    """Return the command that renders a chart, without its arguments; None if `helm` isn't on PATH,
    and `pulumi-dra sandbox tools --helm` hasn't built it.
    """
    helm = shutil.which("helm") or _built_helm()
    return None if helm is None else [helm, "template"]


def _built_helm() -> str | None:
    # these imports are needed only without helm on PATH
    from dra_sandbox.cache import CacheUnusable  # noqa: PLC0415
    from dra_sandbox.tools.helm import HELM  # noqa: PLC0415

    try:
        return str(HELM.binary) if HELM.binary.is_file() else None
    except CacheUnusable:
        return None


def kustomize_build() -> list[str] | None:
    """Return the command that builds a kustomization, without its folder; None if no tool for it is
    on PATH.
    """
    kustomize, kubectl = shutil.which("kustomize"), shutil.which("kubectl")
    if kustomize is not None:
        return [kustomize, "build"]
    return [kubectl, "kustomize"] if kubectl is not None else None


def rendered_folder(name: str) -> str:
    """Return the folder from which manifests with this name were rendered, or "" for other
    names.
    """
    return name.removesuffix(RENDERED) if name.endswith(RENDERED) else ""


def release_name(path: str) -> str:
    """Return a release name that helm accepts: the folder's name, shortened to a DNS label."""
    name = "".join(
        each if each.isalnum() else "-" for each in Path(path).resolve().name.lower()
    ).strip("-")
    return name[:53] or "release"


def run_renderer(words: Sequence[str], path: str) -> str:
    """Run a tool that renders the folder at a path, with the folder as the last argument, and
    return its output. Raises UsageError with the tool's message, or with the limit that was
    reached.
    """
    from dra_command.inputs.renderer_process import run_limited  # noqa: PLC0415  (most commands render nothing)

    return run_limited(words, path)


def _renderer(path: str, values: argparse.Namespace) -> list[str] | None:
    """Return the command that renders a folder, or the folder of a kustomization file.

    None if the path doesn't need rendering, or if the tool isn't on PATH. In the latter case, the
    files are read unchanged, and a note contains the command.
    """
    if is_chart(path):
        helm = helm_template()
        if helm is None:
            return None
        files = [
            word for file in getattr(values, "values_files", []) for word in ("--values", file)
        ]
        settings = [word for each in getattr(values, "set_values", []) for word in ("--set", each)]
        version = (
            ["--kube-version", values.kubernetes] if getattr(values, "kubernetes", None) else []
        )
        return [*helm, *files, *settings, *version, "--", release_name(path), path]
    if _is_kustomization(path):
        build, folder = kustomize_build(), os.path.dirname(path) or "."
        if build is None:
            raise UsageError(
                f"{path} can't be built, because {NO_BUILDER}",
                fix=f"run `kustomize build {folder} | pulumi-dra {values.command} -`",
            )
        return [*build, "--", folder]
    return None


def _is_kustomization(path: str) -> bool:
    return os.path.basename(path) in KUSTOMIZATION_FILES and os.path.isfile(path)
