"""A folder that a GitOps object names, its rendering options, and its manifests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from dra_command.inputs.rendering import (
    helm_template,
    is_chart,
    kustomization_of,
    kustomize_build,
    run_renderer,
)
from dra_planner.documents.plain_values import texts
from dra_planner.documents.variables import fill_in
from dra_planner.sources import MANIFEST_SUFFIXES, read_sources


class NotRendered(Exception):
    """Reason why the manifests that an object delivers are unknown. The message completes a
    sentence about the object.
    """


class LocalSource(Struct, frozen=True, kw_only=True):
    """A chart, a kustomization, or plain manifests in a folder of the repository.

    `values` are values of a chart in the order of their precedence, as files or mappings, and
    `settings` are arguments of `helm template`. `changes` are fields of a kustomization around the
    folder. `variables` are replaced in the result if they aren't None.
    """

    folder: Path
    release: str
    namespace: str = ""
    values: tuple[Path | Mapping[str, Any], ...] = ()
    settings: tuple[str, ...] = ()
    changes: Mapping[str, Any] | None = None
    is_recursive: bool = False
    variables: Mapping[str, str] | None = None

    def render(self) -> str:
        """Return the manifests. Raises NotRendered if no tool is on PATH, and UsageError if the
        tool fails.
        """
        if is_chart(self.folder):
            text = self._chart()
        elif self.changes or kustomization_of(self.folder) is not None:
            text = self._kustomization()
        else:
            text = "\n---\n".join(each.text for each in self._files())
        return text if self.variables is None else fill_in(text, self.variables)

    def covers(self) -> Iterator[tuple[Path, bool]]:
        """Yield the folders whose manifests this source contains, and whether their subfolders are
        included. These are the folder itself, and the folders that its kustomization names.
        """
        waiting, seen = [self.folder], set[Path]()
        while waiting:
            folder = waiting.pop()
            if folder in seen or not folder.is_dir():
                continue
            seen.add(folder)
            file = kustomization_of(folder)
            yield folder, file is not None or is_chart(folder) or self.is_recursive
            with suppress(OSError, ValueError, yaml.YAMLError):
                fields = (
                    yaml.safe_load(file.read_text(encoding="utf-8")) if file is not None else {}
                )
                for key in ("resources", "bases", "components"):
                    waiting += [(folder / path).resolve() for path in texts(fields.get(key))]

    def _chart(self) -> str:
        helm = helm_template()
        if helm is None:
            raise NotRendered("helm isn't on PATH, so the chart wasn't rendered")
        with tempfile.TemporaryDirectory(prefix="pulumi-dra-") as scratch:
            words = [*helm, *self.settings]
            for index, values in enumerate(self.values):
                file = values if isinstance(values, Path) else Path(scratch, f"{index}.yaml")
                if not isinstance(values, Path):
                    file.write_text(yaml.safe_dump(dict(values)), encoding="utf-8")
                words += ["--values", str(file)]
            if self.namespace:
                words += ["--namespace", self.namespace]
            # a release name must not be parsed as an option, because an option could start a
            # program
            return run_renderer([*words, "--", self.release, str(self.folder)], str(self.folder))

    def _kustomization(self) -> str:
        build = kustomize_build()
        if build is None:
            raise NotRendered(
                "neither kustomize nor kubectl is on PATH, so its kustomization wasn't built"
            )
        if not self.changes:
            return run_renderer([*build, "--", str(self.folder)], str(self.folder))
        with tempfile.TemporaryDirectory(prefix="pulumi-dra-") as scratch:
            base = self.folder.resolve()
            # kustomize doesn't read files outside the folder that it builds
            if kustomization_of(self.folder) is None:
                base = Path(scratch, "manifests")
                _write_kustomization(base, {"resources": self._copies(base)})
            around = Path(scratch, "changes")
            # kustomize accepts only relative paths
            up = "/".join([".."] * len(around.resolve().parts[1:]))
            fields = dict(self.changes)
            if components := texts(fields.get("components")):
                fields["components"] = [
                    f"{up}{(self.folder / each).resolve()}" for each in components
                ]
            _write_kustomization(around, {"resources": [f"{up}{base.resolve()}"], **fields})
            return run_renderer([*build, "--", str(around)], str(self.folder))

    def _files(self) -> Sequence[Any]:
        if self.is_recursive:
            return read_sources([self.folder])
        files = [
            each
            for each in self.folder.iterdir()
            if each.is_file() and each.suffix in MANIFEST_SUFFIXES
        ]
        if not files:
            raise NotRendered(f"{self.folder} doesn't contain manifests")
        return read_sources(sorted(files))

    def _copies(self, folder: Path) -> list[str]:
        folder.mkdir()
        names = []
        for index, each in enumerate(self._files()):
            names.append(f"{index}{Path(each.name).suffix}")
            shutil.copyfile(each.name, folder / names[-1])
        return names


def _write_kustomization(folder: Path, fields: Mapping[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    head = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({**head, **fields}), encoding="utf-8")
