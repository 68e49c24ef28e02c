"""Applications of Argo CD whose sources are folders of this repository.

Source of behavior:
argoproj/argo-cd:docs/user-guide/{helm,kustomize,directory,multiple_sources}.md@v3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from dra_command.inputs.delivery.local_source import LocalSource, NotRendered
from dra_command.inputs.delivery.repository import Repository
from dra_command.inputs.rendering import is_chart
from dra_planner.documents.plain_values import block, blocks, labels, number, text, texts

_COPIED: Final = (
    "namePrefix",
    "nameSuffix",
    "commonLabels",
    "commonAnnotations",
    "namespace",
    "patches",
    "components",
)


def is_application(item: Mapping[str, Any]) -> bool:
    """Return whether an object is an Application."""
    return item.get("kind") == "Application" and text(item.get("apiVersion")).startswith(
        "argoproj.io/"
    )


def application_sources(item: Mapping[str, Any], here: Repository) -> Iterator[LocalSource]:
    """Yield the sources of an Application. Raises NotRendered if one isn't a folder of this
    repository.
    """
    spec = block(item, "spec")
    sources = blocks(spec, "sources") or [block(spec, "source")]
    roots = {f"${each['ref']}": each for each in sources if each.get("ref")}
    namespace = text(block(spec, "destination").get("namespace"))
    name = text(block(item, "metadata").get("name"))
    for source in sources:
        if source.get("ref") and not source.get("path"):
            continue  # this source only provides values files
        if not source.get("path"):
            raise NotRendered(f"its chart {source.get('chart', '')} is in a registry")
        here.require_own(text(source.get("repoURL")))
        folder = here.folder(text(source["path"]))
        if source.get("plugin") or block(source, "directory").get("jsonnet"):
            raise NotRendered("its source needs a plugin or Jsonnet")
        helm = block(source, "helm")
        yield LocalSource(
            folder=folder,
            release=text(helm.get("releaseName")) or name,
            namespace=text(helm.get("namespace")) or namespace,
            values=tuple(_values(helm, folder, here, roots)) if is_chart(folder) else (),
            settings=tuple(_settings(helm)),
            changes=_changes(block(source, "kustomize")),
            is_recursive=bool(block(source, "directory").get("recurse")),
        )


def _values(
    helm: Mapping[str, Any], folder: Path, here: Repository, roots: Mapping[str, Mapping[str, Any]]
) -> Iterator[Path | Mapping[str, Any]]:
    for written in texts(helm.get("valueFiles")):
        reference, _, path = written.partition("/")
        if "://" in written:
            raise NotRendered(f"its values come from {written}")
        try:
            if reference in roots:
                here.require_own(text(roots[reference].get("repoURL")))
                yield here.path(path)
            else:
                yield here.path(written, None if written.startswith("/") else folder)
        except NotRendered:
            if not helm.get("ignoreMissingValueFiles"):
                raise
    inline = yaml.safe_load(text(helm.get("values")) or "{}")
    for each in (block(helm, "valuesObject") or inline,):
        if isinstance(each, Mapping) and each:
            yield each


def _settings(helm: Mapping[str, Any]) -> Iterator[str]:
    for each in blocks(helm, "parameters"):
        value = str(each.get("value", ""))
        escaped = value if value.startswith("{") else value.replace(",", "\\,")
        yield "--set-string" if each.get("forceString") else "--set"
        yield f"{each.get('name', '')}={escaped}"
    if helm.get("kubeVersion"):
        yield f"--kube-version={helm['kubeVersion']}"
    yield from (f"--api-versions={each}" for each in texts(helm.get("apiVersions")))


def _changes(kustomize: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the kustomization fields that an Application sets, in kustomize's own format."""
    if any("path" in each for each in blocks(kustomize, "patches")):
        raise NotRendered("its patches are in files")
    changes = {key: kustomize[key] for key in _COPIED if kustomize.get(key)}
    for key in ("commonLabels", "commonAnnotations"):
        if key in changes:
            changes[key] = labels(changes[key])
    if images := texts(kustomize.get("images")):
        changes["images"] = [_image(each) for each in images]
    if replicas := blocks(kustomize, "replicas"):
        changes["replicas"] = [
            {"name": each.get("name"), "count": number(each.get("count"))} for each in replicas
        ]
    return changes or None


def _image(written: str) -> dict[str, str]:
    """Return an image as kustomize writes it: [old=]new[:tag|@digest]."""
    old, is_renamed, new = written.rpartition("=")
    name, at, digest = new.partition("@")
    head, _, tail = name.rpartition("/")
    base, has_tag, tag = tail.partition(":")
    path = f"{head}/{base}" if head else base
    found = {"name": old or path}
    if is_renamed:
        found["newName"] = path
    if at:
        found["digest"] = digest
    elif has_tag:
        found["newTag"] = tag
    return found
