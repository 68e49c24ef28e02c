"""Terraform's language: releases of Helm are judged as Helm's commands are, and Kubernetes objects named, not read;
versions that are not served are told anyhow.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from textwrap import dedent
from typing import Final

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.setup.chart_values import values_findings
from dra_planner.manifests.validation.served import why_not_served
from dra_planner.releases import Features
from dra_planner.sources import Source
from dra_tutorials.shell.setup_commands import findings_of_command

GROUP: Final = "resource.k8s.io"
_KINDS: Final = frozenset({"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"})
_RESOURCE: Final = re.compile(r'^\s*resource\s+"(?P<type>kubernetes_manifest|kubectl_manifest)"\s+"(?P<name>[\w-]+)"')
_RELEASE: Final = re.compile(
    r'^resource\s+"helm_release"\s+"(?P<name>[\w-]+)"\s*\{(?P<body>.*?)^\}', re.MULTILINE | re.DOTALL
)
_ATTRIBUTE: Final = re.compile(r'^\s{0,4}(chart|version|namespace)\s*=\s*"([^"$]*)"', re.MULTILINE)
_SET: Final = re.compile(r'name\s*=\s*"([^"]*)"\s*,?\s*value\s*=\s*"?([^"\s,}]*)')
_HEREDOC: Final = re.compile(r"<<-?(?P<end>\w+)[ \t]*\n(?P<text>.*?)^[ \t]*(?P=end)\b", re.MULTILINE | re.DOTALL)
_ENCODED: Final = re.compile(r"(?:yaml|json)encode\(\{(?P<text>.*?)\}\)", re.DOTALL)
_EQUALS: Final = re.compile(r"((?:^|[{,])\s*[\"\w./-]+)\s*=\s*", re.MULTILINE)
_ENDS: Final = re.compile(r"([\w\"\]})])[ \t]*$", re.MULTILINE)
"""Ends of lines of an object after which another entry may stand."""
_AS_ATTRIBUTES: Final = (
    (re.compile(r"--set (\S+?)=(\S+)"), r'set { name = "\1", value = "\2" }'),
    (re.compile(r"--namespace (\S+) --create-namespace"), r'namespace = "\1"'),
    (re.compile(r"--version (\S+)"), r'version = "\1"'),
)
"""Options in fixes of commands, and how Terraform's language says the same."""
_VERSION: Final = re.compile(r"""["']?apiVersion["']?\s*[=:]\s*["']?(?P<version>resource\.k8s\.io/\w+)""")
_KIND: Final = re.compile(r"""["']?\bkind["']?\s*[=:]\s*["']?(\w+)""")


def terraform_findings(text: str, file: str, line: int, features: Features) -> Iterator[Diagnostic]:
    """Yield a note on each object that Terraform declares, and its version where that is not served; `line` is the
    first line of the text, from 1.
    """
    yield from _releases(text, file, line)
    lines = text.split("\n")
    begins = [number for number, each in enumerate(lines) if _RESOURCE.match(each)]
    for begin, end in pairwise([*begins, len(lines)]):
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


def _releases(text: str, file: str, line: int) -> Iterator[Diagnostic]:
    """Yield what a release is told as a command of Helm with the same chart, version, namespace and values is."""
    for release in _RELEASE.finditer(text):
        body = release["body"]
        given = dict(_ATTRIBUTE.findall(body))
        words = ["helm", "install", release["name"], given.get("chart", "")]
        words += [f"--{name}={given[name]}" for name in ("version", "namespace") if given.get(name)]
        words += [word for name, value in _SET.findall(body) for word in ("--set", f"{name}={value}")]
        words += ["-f", "values"] if re.search(r"^\s*values\s*=", body, re.MULTILINE) else []
        place = Place(file, line + text.count("\n", 0, release.start()))
        for severity, code, message, fix in findings_of_command(shlex.join(words), text):
            for pattern, instead in _AS_ATTRIBUTES:
                fix = pattern.sub(instead, fix)
            yield Diagnostic(severity, code, f'helm_release "{release["name"]}": {message}', place, fix)
        for values in _values(body, file, line + text.count("\n", 0, release.start("body")) - 1):
            yield from values_findings(values)


def _values(body: str, file: str, line: int) -> Iterator[Source]:
    """Yield the values that a release writes out as YAML or as an object, each on its lines; `line` stands before it.

    An object has `=` and ends of lines where YAML in braces has `:` and commas. What is computed is passed over.
    """
    for match in (*_HEREDOC.finditer(body), *_ENCODED.finditer(body)):
        text = dedent(match["text"])
        if match.re is _ENCODED:
            entries = _ENDS.sub(r"\1,", _EQUALS.sub(r"\1: ", text))
            text = f"{{{entries}}}"
        try:
            data = read_yaml(text)[0]
        except Fault:
            continue
        if isinstance(data, Mapping):
            before = "\n" * (line + body.count("\n", 0, match.start("text")))
            yield Source(file, before + text)
