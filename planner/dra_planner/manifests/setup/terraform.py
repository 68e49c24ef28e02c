"""Kubernetes objects in Terraform's language: named, not read; versions that are not served are told anyhow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.validation.served import why_not_served
from dra_planner.releases import Features

GROUP: Final = "resource.k8s.io"
_KINDS: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"})
_RESOURCE: Final = re.compile(r'^\s*resource\s+"(?P<type>kubernetes_manifest|kubectl_manifest)"\s+"(?P<name>[\w-]+)"')
_VERSION: Final = re.compile(r"""["']?apiVersion["']?\s*[=:]\s*["']?(?P<version>resource\.k8s\.io/\w+)""")
_KIND: Final = re.compile(r"""["']?\bkind["']?\s*[=:]\s*["']?(\w+)""")


def terraform_findings(text: str, file: str, line: int, features: Features) -> Iterator[Diagnostic]:
    """Yield a note on each object that Terraform declares, and its version where that is not served; `line` is the
    first line of the text, from 1.
    """
    lines = text.split("\n")
    begins = [number for number, each in enumerate(lines) if _RESOURCE.match(each)]
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        found = _RESOURCE.match(lines[begin])
        assert found is not None
        body = "\n".join(lines[begin:end])
        kind = _KIND.search(body)
        title = f'{found["type"]} "{found["name"]}"'
        message = f"{title} is{f' a {kind[1]}' if kind else ''} in Terraform's language, which is not read"
        applied = f"kubectl get {kind[1].lower() if kind else 'KIND'} -A -o yaml | pulumi-dra check -"
        fix = f"write the object as YAML, or check what is applied: {applied}"
        yield Diagnostic("note", "terraform-not-judged", message, Place(file, line + begin), fix)
        version = _VERSION.search(body)
        if version is None or kind is None:
            continue
        why = why_not_served(version["version"], kind[1], features)
        if why is not None:
            at = line + begin + body.count("\n", 0, version.start())
            fix = why[1] if kind[1] not in _KINDS else f"write {GROUP}/v1, and the fields of each request below exactly"
            yield Diagnostic("error", "version-not-served", f"{title}: {why[0]}", Place(file, at), fix)
