"""Flux HelmReleases and Kustomizations whose source is this repository.

Source of behavior: fluxcd/helm-controller:docs/spec/v2/helmreleases.md@v1.3 and
fluxcd/kustomize-controller:docs/spec/v1/kustomizations.md@v1.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import yaml

from dra_command.inputs.delivery.local_source import LocalSource, NotRendered
from dra_command.inputs.delivery.repository import Repository
from dra_planner.documents.plain_values import block, blocks, labels, text, texts

_KINDS: Final = {
    "HelmRelease": "helm.toolkit.fluxcd.io/",
    "Kustomization": "kustomize.toolkit.fluxcd.io/",
}
_COPIED: Final = ("namePrefix", "nameSuffix", "patches", "images", "components")

FindObject = Callable[[str, str, str], Mapping[str, Any] | None]
"""Finds an object in the manifests by kind, namespace, and name."""


def is_flux(item: Mapping[str, Any]) -> bool:
    """Return whether an object is a HelmRelease or a Kustomization of Flux."""
    group = _KINDS.get(text(item.get("kind")), "")
    return bool(group) and text(item.get("apiVersion")).startswith(group)


def flux_source(item: Mapping[str, Any], here: Repository, find: FindObject) -> LocalSource:
    """Return the source of a HelmRelease or Kustomization. Raises NotRendered if it isn't in this
    repository.
    """
    if item["kind"] == "HelmRelease":
        return _helm_release(item, here, find)
    return _kustomization(item, here, find)


def _helm_release(item: Mapping[str, Any], here: Repository, find: FindObject) -> LocalSource:
    spec, metadata = block(item, "spec"), block(item, "metadata")
    chart = block(block(spec, "chart"), "spec")
    if not chart or block(chart, "sourceRef").get("kind") != "GitRepository":
        raise NotRendered(f"its chart {chart.get('chart', '')} is in a registry".replace("  ", " "))
    if spec.get("postRenderers"):
        raise NotRendered("its postRenderers aren't applied here")
    own = text(metadata.get("namespace")) or "default"
    _require_own(block(chart, "sourceRef"), own, here, find)
    target = text(spec.get("targetNamespace"))
    name = text(metadata.get("name"))
    folder = here.folder(text(chart.get("chart")))
    return LocalSource(
        folder=folder,
        release=text(spec.get("releaseName")) or (f"{target}-{name}" if target else name),
        namespace=target or own,
        values=(
            *(here.path(each) for each in texts(chart.get("valuesFiles"))),
            *_values_from(spec, own, find),
            *([block(spec, "values")] if spec.get("values") else []),
        ),
    )


def _values_from(
    spec: Mapping[str, Any], namespace: str, find: FindObject
) -> Iterator[Mapping[str, Any]]:
    for each in blocks(spec, "valuesFrom"):
        held = _data_of(each, namespace, find)
        values = (
            yaml.safe_load(text(held.get(text(each.get("valuesKey")) or "values.yaml")))
            if held
            else None
        )
        if each.get("targetPath") or (values is None and not each.get("optional")):
            raise NotRendered(f"its values are in the {each.get('kind')} {each.get('name')}")
        if isinstance(values, Mapping):
            yield values


def _kustomization(item: Mapping[str, Any], here: Repository, find: FindObject) -> LocalSource:
    spec, metadata = block(item, "spec"), block(item, "metadata")
    source = block(spec, "sourceRef")
    kind = source.get("kind")
    if kind != "GitRepository":
        raise NotRendered(f"the source kind {kind} isn't supported" if kind else "it has no source")
    own = text(metadata.get("namespace")) or "default"
    _require_own(source, own, here, find)
    changes = {key: spec[key] for key in _COPIED if spec.get(key)}
    if spec.get("targetNamespace"):
        changes["namespace"] = text(spec["targetNamespace"])
    variables: dict[str, str] = {}
    build = block(spec, "postBuild")
    for each in blocks(build, "substituteFrom"):
        held = _data_of(each, own, find)
        if held is None and not each.get("optional"):
            raise NotRendered(f"its variables are in the {each.get('kind')} {each.get('name')}")
        variables |= labels(held)
    return LocalSource(
        folder=here.folder(text(spec.get("path")) or "."),
        release=text(metadata.get("name")),
        changes=changes or None,
        is_recursive=True,
        variables={**variables, **labels(build.get("substitute"))} if build else None,
    )


def _data_of(
    reference: Mapping[str, Any], namespace: str, find: FindObject
) -> Mapping[str, Any] | None:
    """Return the data of a ConfigMap in the manifests. None for other objects and for Secrets."""
    if reference.get("kind") != "ConfigMap":
        return None
    found = find("ConfigMap", namespace, text(reference.get("name")))
    return None if found is None else block(found, "data")


def _require_own(
    reference: Mapping[str, Any], namespace: str, here: Repository, find: FindObject
) -> None:
    """Raise NotRendered if the manifests contain the GitRepository, and its URL belongs to another
    repository.
    """
    found = find(
        "GitRepository", text(reference.get("namespace")) or namespace, text(reference.get("name"))
    )
    if found is not None:
        here.require_own(text(block(found, "spec").get("url")))
