"""Findings in Terraform code: Helm releases are checked in the same way as Helm commands, and the
API versions of objects are checked.

Other fields of objects in Terraform code aren't checked, and a note lists each object.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.tree import line_of
from dra_planner.errors import Diagnostic, ManifestError, Place
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.setup.chart_values import values_findings
from dra_planner.manifests.validation.served_versions import not_served_reason
from dra_planner.releases import Features
from dra_planner.sources import Source
from dra_tutorials.shell.setup_commands import findings_of_command
from dra_tutorials.terraform.program import (
    TerraformResource,
    literal,
    objects,
    read_resources,
    yaml_texts,
)

GROUP: Final = "resource.k8s.io"
_KINDS: Final = frozenset(
    {"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"}
)
_OBJECTS: Final = {"kubernetes_manifest": "manifest", "kubectl_manifest": "yaml_body"}
"""Resources that declare a Kubernetes object, and the attribute that contains it."""
_SET: Final = ("set", "set_sensitive")
_AS_ATTRIBUTES: Final = (
    (re.compile(r"--set (\S+?)=(\S+)"), r'set { name = "\1", value = "\2" }'),
    (re.compile(r"--namespace (\S+) --create-namespace"), r'namespace = "\1"'),
    (re.compile(r"--version (\S+)"), r'version = "\1"'),
)
"""Command-line options in fixes, and the equivalent Terraform attributes."""


def terraform_findings(text: str, file: str, line: int, features: Features) -> Iterator[Diagnostic]:
    """Yield findings in Helm releases and Kubernetes objects. `line` is the number of the text's
    first line (from 1).
    """
    if not any(name in text for name in (*_OBJECTS, "helm_release")):
        return
    resources = list(read_resources(text))
    for each in resources:
        if each.type == "helm_release":
            yield from _release_findings(each, text, file, line - 1)
    for each in resources:
        if each.type in _OBJECTS:
            yield from _object_findings(each, file, line - 1, features)


def _object_findings(
    resource: TerraformResource, file: str, above: int, features: Features
) -> Iterator[Diagnostic]:
    title = f'{resource.type} "{resource.name}"'
    data = next(_objects(resource, file, above), None)
    kind = "" if data is None else str(data.get("kind") or "")
    message = (
        f"{title} defines {f'a {kind}' if kind else 'an object'}, but `check` doesn't read Terraform "
        "code"
    )
    applied = f"kubectl get {kind.lower() if kind else 'KIND'} -A -o yaml | pulumi-dra check -"
    fix = f"define the object in a YAML manifest, or check the applied object: `{applied}`"
    yield Diagnostic(
        "note", "terraform-not-judged", message, Place(file, above + resource.line), fix
    )
    version = "" if data is None else str(data.get("apiVersion") or "")
    if not kind or not version.startswith(f"{GROUP}/"):
        return
    reason = not_served_reason(version, kind, features)
    if reason is not None:
        fix = (
            reason[1]
            if kind not in _KINDS
            else f"use {GROUP}/v1, and move the fields of each request under `exactly`"
        )
        place = Place(file, line_of(data, "apiVersion"))
        yield Diagnostic("error", "version-not-served", f"{title}: {reason[0]}", place, fix)


def _objects(resource: TerraformResource, file: str, above: int) -> Iterator[Mapping[str, Any]]:
    """Yield the objects that a resource declares. Text that isn't valid YAML is omitted."""
    for source in _sources(resource, _OBJECTS[resource.type], file, above):
        try:
            documents, _ = read_documents([source])
        except ManifestError:
            continue
        yield from (each.data for each in documents if isinstance(each.data, Mapping))


def _release_findings(
    release: TerraformResource, text: str, file: str, above: int
) -> Iterator[Diagnostic]:
    """Yield the findings in a Helm command with the same chart, version, namespace, and values as
    the release.
    """
    given = release.body.attributes
    words = ["helm", "install", release.name, literal(given.get("chart"))]
    words += [
        f"--{name}={literal(given.get(name))}"
        for name in ("version", "namespace")
        if literal(given.get(name))
    ]
    words += [word for name, value in _set_values(release) for word in ("--set", f"{name}={value}")]
    words += ["-f", "values"] if "values" in given else []
    place = Place(file, above + release.line)
    for severity, code, message, fix in findings_of_command(shlex.join(words), text):
        for pattern, instead in _AS_ATTRIBUTES:
            fix = pattern.sub(instead, fix)
        yield Diagnostic(severity, code, f'helm_release "{release.name}": {message}', place, fix)
    for values in _sources(release, "values", file, above):
        yield from values_findings(values)


def _set_values(release: TerraformResource) -> Iterator[tuple[str, str]]:
    """Yield the names and values in `set` blocks, or in the `set` list that the provider supports
    since version 3.
    """
    pairs = [body.attributes for name, body in release.body.blocks if name in _SET]
    pairs += [each for name in _SET for each in objects(release.body.attributes.get(name))]
    for each in pairs:
        if name := literal(each.get("name")):
            yield name, literal(each.get("value"))


def _sources(
    resource: TerraformResource, attribute: str, file: str, above: int
) -> Iterator[Source]:
    """Yield the YAML in an attribute, with the line numbers of the file."""
    for text in yaml_texts(resource.body.attributes.get(attribute)):
        yield Source(file, "\n" * (above + resource.above) + text)
