"""Install the declarations of a platform in a real API server: apply objects, and install releases
with the real Helm.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml
from msgspec import Struct
from platforms import RELEASE, Declared

from dra_sandbox.control_plane import ApiRejection, ApiServer
from dra_sandbox.tools.charts import Charts
from dra_sandbox.tools.helm import helm_environment

_DEFINITIONS: Final = "karpenter-crd"
"""Objects that remain after a case, so that later cases can also create objects of their kinds."""
_PASSED_ON: Final = ("resources", "securityContext", "extraArgs")
"""Values that charts pass unchanged to a container or as flags. The charts' defaults don't contain
all of their keys.
"""
_OF_THE_CLUSTER: Final = "monitoring.googleapis.com/"
"""Kinds for which GKE itself has definitions."""


class Release(Struct, frozen=True):
    """A release as the program declares it, with the name and the repository of its chart."""

    name: str
    namespace: str
    chart: str
    version: str
    repository: str
    values: dict[str, Any]
    skip_crds: bool

    @classmethod
    def of(cls, inputs: dict[str, Any]) -> Release:
        """Return the release that the inputs describe."""
        return cls(
            name=inputs["name"],
            namespace=inputs["namespace"],
            chart=inputs["chart"],
            version=str(inputs.get("version") or ""),
            repository=(inputs.get("repositoryOpts") or {}).get("repo", ""),
            values=inputs.get("values") or {},
            skip_crds=bool(inputs.get("skipCrds")),
        )

    @property
    def chart_name(self) -> str:
        """The name of the chart without its repository."""
        return self.chart.rstrip("/").rpartition("/")[2]

    @property
    def key(self) -> str:
        """A key that is equal for releases whose installation is identical."""
        return json.dumps(
            [self.name, self.namespace, self.chart, self.version, self.values], sort_keys=True
        )


class Cluster:
    """Installs releases in one API server, and records what was installed."""

    def __init__(self, server: ApiServer, kubeconfig: Path, charts: Charts, scratch: Path) -> None:
        self._server, self._kubeconfig, self._charts, self._scratch = (
            server,
            kubeconfig,
            charts,
            scratch,
        )
        self.installed = 0
        self.applied = 0
        self.left_out: list[str] = []
        self._known: dict[str, list[str]] = {}

    def install(self, resources: list[Declared]) -> Iterator[str]:
        """Install all resources in order, and delete the releases afterward. Yield the errors."""
        releases: list[Release] = []
        for each in resources:
            if each.type == RELEASE:
                release = Release.of(each.inputs)
                yield from self._install_once(release, releases)
            elif not each.type.startswith("kubernetes:"):
                continue
            else:
                yield from self._apply(each)
        for release in reversed(releases):
            done = self._helm(
                "uninstall", release.name, "--namespace", release.namespace, "--no-hooks"
            )
            if done.returncode:
                yield f"{release.name}: isn't uninstalled: {done.stderr.strip()}"

    def _install_once(self, release: Release, there: list[Release]) -> Iterator[str]:
        if release.key in self._known:
            yield from self._known[release.key]
            return
        chart = self._charts.find(
            release.chart_name, release.version, release.chart, release.repository
        )
        if chart is None:
            self.left_out.append(f"{release.chart_name} {release.version}")
            return
        faults = list(self._really_install(release, chart, there))
        if not faults:  # otherwise, Helm might not be able to read the chart
            faults = list(self._unknown_values(release, chart))
        self._known[release.key] = faults
        yield from faults

    def _really_install(self, release: Release, chart: Path, there: list[Release]) -> Iterator[str]:
        values = self._scratch / "values.yaml"
        values.write_text(yaml.safe_dump(release.values), encoding="utf-8")
        command = [
            "install",
            release.name,
            str(chart),
            "--namespace",
            release.namespace,
            "--values",
            str(values),
        ]
        done = self._helm(*command, *(["--skip-crds"] if release.skip_crds else []))
        if done.returncode:
            yield f"{release.chart_name} {release.version}: {done.stderr.strip().splitlines()[-1]}"
            return
        self.installed += 1
        if release.chart_name != _DEFINITIONS:
            there.append(release)

    def _unknown_values(self, release: Release, chart: Path) -> Iterator[str]:
        """Yield values without a default in the chart, which the chart would ignore."""
        done = self._helm("show", "values", str(chart))
        known = yaml.safe_load(done.stdout) or {}
        for path in paths_beyond(release.values, known):
            yield f"{release.chart_name} {release.version}: the chart has no value {path}"

    def _apply(self, resource: Declared) -> Iterator[str]:
        _, api_version, kind = resource.type.split(":")
        document = {
            "apiVersion": resource.inputs.get("apiVersion") or api_version.removeprefix("core/"),
            "kind": resource.inputs.get("kind") or kind.removesuffix("Patch"),
            **{
                key: value
                for key, value in resource.inputs.items()
                if key not in ("apiVersion", "kind")
            },
        }
        document["metadata"] = {"name": resource.name, **(document.get("metadata") or {})}
        try:
            self._server.apply(document)
            self.applied += 1
        except ApiRejection as refused:
            missing = any(name.startswith(_DEFINITIONS) for name in self.left_out)
            missing |= document["apiVersion"].startswith(_OF_THE_CLUSTER)
            if refused.reason == "NoMatch" and missing:
                self.left_out.append(f"{document['kind']}, whose definition isn't installed")
                return
            yield f"{document['kind']} {document['metadata']['name']}: {refused}"

    def _helm(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self._charts.helm), *arguments, "--kubeconfig", str(self._kubeconfig)]
        environment = helm_environment()
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=300, env=environment
        )


def paths_beyond(values: Any, known: Any, path: str = "") -> Iterator[str]:
    """Yield the keys in `values` that aren't in `known`, the chart's own values. Mappings that are
    empty in the chart can contain any keys.
    """
    if not isinstance(values, dict) or not isinstance(known, dict) or (path and not known):
        return
    for key, value in values.items():
        where = f"{path}.{key}" if path else str(key)
        if key not in known:
            yield where
        elif key not in _PASSED_ON:
            yield from paths_beyond(value, known[key], where)
