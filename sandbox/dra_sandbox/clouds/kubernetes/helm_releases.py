"""Install releases on a control plane with the real Helm, and store a note about each release."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from msgspec import Struct
from msgspec.structs import asdict

from dra_sandbox.clouds.kubernetes.backend import ApplyFailed
from dra_sandbox.clouds.wire_values import Values
from dra_sandbox.tools.charts import Charts
from dra_sandbox.tools.helm import helm_environment

_NOTES: Final = "releases"
# pulumi/pulumi-kubernetes:provider/pkg/provider/helm_release.go (`defaultTimeoutSeconds`)
_WAIT_SECONDS: Final = 300
# additional time in which Helm should exit by itself after the timeout
_PATIENCE_SECONDS: Final = 60


class ReleaseNote(Struct, frozen=True):
    """The result of a release: the objects of its chart by kind, or the reason why it is only
    recorded.
    """

    name: str
    namespace: str
    chart: str
    objects: Mapping[str, int] = {}
    recorded_because: str = ""

    def write(self, plane: Path) -> None:
        """Write the note to the folder of a control plane."""
        path = _note_of(plane, self.namespace, self.name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def release_notes(plane: Path) -> list[ReleaseNote]:
    """Return the notes in the folder of a control plane, by namespace and name."""
    found = [path for path in sorted((plane / _NOTES).glob("*.json")) if path.is_file()]
    return [ReleaseNote(**json.loads(path.read_text(encoding="utf-8"))) for path in found]


class HelmReleases(Struct, frozen=True):
    """Installs the releases of one control plane.

    If `charts` is None because Helm is missing, they are only recorded.
    """

    plane: Path
    kubeconfig: Path
    charts: Charts | None

    def install(self, inputs: Values) -> str:
        """Install or upgrade a release, and wait for its pods unless the release disables that.

        Returns the version of the chart's app, or an empty text if the chart can't be found. In
        that case, the release is only recorded, and the note contains the reason. Raises
        ApplyFailed with Helm's message.
        """
        name, namespace, version = (
            str(inputs["name"]),
            str(inputs["namespace"]),
            str(inputs.get("version") or ""),
        )
        reference = str(inputs["chart"])
        chart = reference.rstrip("/").rpartition("/")[2]
        chart_version = f"{chart} {version}".strip()
        path, reason = self._find(chart, version, reference, _repository(inputs))
        if path is None:
            ReleaseNote(name, namespace, chart_version, recorded_because=reason).write(self.plane)
            return ""
        document = self._upgrade(path, inputs)
        rendered = Counter(
            str(each.get("kind"))
            for each in yaml.safe_load_all(document.get("manifest") or "")
            if each
        )
        ReleaseNote(name, namespace, chart_version, dict(sorted(rendered.items()))).write(
            self.plane
        )
        return str(((document.get("chart") or {}).get("metadata") or {}).get("appVersion") or "")

    def uninstall(self, inputs: Values) -> None:
        """Uninstall a release, or remove the record of a release that was only recorded.

        Raises ApplyFailed with Helm's message.
        """
        name, namespace = str(inputs["name"]), str(inputs["namespace"])
        note = _note_of(self.plane, namespace, name)
        if not note.is_file():
            return
        if self.charts is not None:
            self._helm(
                "uninstall", name, "--namespace", namespace, "--no-hooks", "--ignore-not-found"
            )
        note.unlink()

    def _find(
        self, chart: str, version: str, reference: str, repository: str
    ) -> tuple[Path | None, str]:
        if self.charts is None:
            return None, "Helm isn't installed; `pulumi-dra sandbox tools --helm` builds it"
        path = self.charts.find(chart, version, reference, repository)
        return (
            path,
            "" if path else f"its chart can't be downloaded: {self.charts.missing[chart, version]}",
        )

    def _upgrade(self, chart: Path, inputs: Values) -> dict[str, Any]:
        """Install or upgrade without hooks, because no containers run here that could complete the
        hooks.
        """
        seconds = int(inputs.get("timeout") or _WAIT_SECONDS)
        words = [
            "upgrade",
            str(inputs["name"]),
            str(chart),
            "--install",
            "--namespace",
            str(inputs["namespace"]),
        ]
        words += ["--values", "-", "--no-hooks", "--output", "json", "--timeout", f"{seconds}s"]
        words += [] if inputs.get("skipAwait") else ["--wait"]
        words += ["--skip-crds"] if inputs.get("skipCrds") else []
        words += ["--create-namespace"] if inputs.get("createNamespace") else []
        output = self._helm(*words, given=json.dumps(inputs.get("values") or {}), seconds=seconds)
        document: dict[str, Any] = json.loads(output)
        return document

    def _helm(self, *words: str, given: str = "", seconds: int = _WAIT_SECONDS) -> str:
        """Run Helm on the control plane with `given` on its standard input, and return
        its output.
        """
        assert self.charts is not None
        try:
            done = subprocess.run(
                [str(self.charts.helm), *words, "--kubeconfig", str(self.kubeconfig)],
                input=given,
                env=helm_environment(),
                capture_output=True,
                text=True,
                check=False,
                timeout=seconds + _PATIENCE_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise ApplyFailed(f"Helm didn't finish within {error.timeout:.0f} s") from error
        if done.returncode:
            raise ApplyFailed(
                done.stderr.strip().removeprefix("Error: ") or f"Helm ended with {done.returncode}"
            )
        return done.stdout


def _repository(inputs: Values) -> str:
    return str((inputs.get("repositoryOpts") or {}).get("repo") or "")


def _note_of(plane: Path, namespace: str, name: str) -> Path:
    return plane / _NOTES / f"{namespace}.{name}.json"
