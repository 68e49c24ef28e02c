"""Validate the machine-readable output of `check` with schemas and readers of other projects.

    python conformance/reports/run.py

- SARIF is validated with OASIS's schema (read from a Go module and not stored here), with go-sarif,
  and against GitHub's rules for code scanning.
- JSON is validated with the published schema by another project's validator.
- JUnit, which has no schema, is read by go-junit, and its numbers are compared.

The exit status is 1 at the first rejected report. The command needs Go.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from dra_command.__main__ import main as pulumi_dra
from dra_sandbox.cache import cache_folder

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULE = "github.com/owenrumney/go-sarif/v3"
HOSTILE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: "a\\u0001]]><b>%0A::error::&amp;\\u202e"}
spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.nvidia.com, cuont: 1}}]}}
"""
CASES: dict[str, list[str]] = {
    "nothing found": ["examples/workloads"],
    "with pools": ["examples/workloads", "--stack", "eks-dev"],
    "what does not fit": ["examples/workloads-that-do-not-fit", "--stack", "eks-dev"],
    "an older release": ["examples", "--kubernetes", "1.34"],
    "one rule alone": ["examples", "--stack", "gke-dev", "--select", "claim-fits-no-pool"],
    "another driver": ["--stack", "eks-dev", "--driver-upgrade", "25.8.1", "0.4.1"],
    "hostile names": ["HOSTILE"],
    "a folder with a space": ["SPACED"],
}
MOST_TEXT, MOST_RESULTS, MOST_TAGS = 1024, 25_000, 20


def main() -> int:
    """Write the reports of every case, and validate them."""
    program, schema = build()
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        sarif_schema = scratch / "sarif.json"
        sarif_schema.write_text(schema, encoding="utf-8")
        for name, words in CASES.items():
            made = report(words, scratch)
            judge(program, "schema", str(sarif_schema), made["sarif"])
            judge(program, "sarif", made["sarif"])
            judge(program, "schema", str(ROOT / "docs" / "schema" / "check.json"), made["json"])
            counted = json.loads(judge(program, "junit", made["junit"]))
            findings = json.loads(Path(made["json"]).read_text(encoding="utf-8"))["diagnostics"]
            errors = sum(each["severity"] == "error" for each in findings)
            faults = [
                *github_rules(Path(made["sarif"])),
                *([] if counted["failed"] == errors else ["junit: failures"]),
            ]
            if len(set(counted["names"])) != len(counted["names"]):
                faults.append("junit: two cases have one name")
            print(
                f"{name}: {len(findings)} findings, {counted['tests']} cases"
                + "".join(f"\n  {f}" for f in faults)
            )
            if faults:
                return 1
    return 0


def build() -> tuple[Path, str]:
    """Return the program in this folder and OASIS's schema from the module. The program is built
    first.
    """
    go = os.environ.get("GO", "go")
    program = cache_folder() / "conformance-reports"
    subprocess.run([go, "build", "-trimpath", "-o", str(program), "."], cwd=HERE, check=True)
    module = subprocess.run(
        [go, "list", "-m", "-f", "{{.Dir}}", MODULE],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
    )
    text = (Path(module.stdout.strip()) / "pkg/report/v210/sarif/schema.go").read_text(
        encoding="utf-8"
    )
    schema = text.partition("`")[2].rpartition("`")[0]
    assert json.loads(schema)["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    return program, schema


def report(words: list[str], scratch: Path) -> dict[str, str]:
    """Run `check` and return the file of each format."""
    (scratch / "a b").mkdir(exist_ok=True)
    for path in (scratch / "hostile.yaml", scratch / "a b" / "hostile.yaml"):
        path.write_text(HOSTILE, encoding="utf-8")
    places = {"HOSTILE": str(scratch / "hostile.yaml"), "SPACED": str(scratch / "a b")}
    files = {form: str(scratch / f"report.{form}") for form in ("sarif", "json", "junit")}
    outputs = ",".join(f"{form}={file}" for form, file in files.items())
    with contextlib.redirect_stdout(io.StringIO()):
        status = pulumi_dra(
            ["check", *(places.get(word, word) for word in words), "--output", outputs]
        )
    assert status in (0, 1, 3), status
    return files


def judge(program: Path, *words: str) -> str:
    """Return the program's output. Exits if the program rejects a report."""
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"rejected: {' '.join(words)}\n{done.stderr}")
    return done.stdout


def github_rules(path: Path) -> list[str]:
    """Return the problems for which GitHub's code scanning would reject results or not show them.

    Source:
    docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support-for-code-scanning.
    """
    (run,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    rules: list[dict[str, Any]] = run["tool"]["driver"]["rules"]
    faults = [
        f"rule {rule['id']}: {key}"
        for rule in rules
        for key in ("shortDescription", "fullDescription", "help")
        if not 0 < len(rule.get(key, {}).get("text", "")) <= MOST_TEXT
    ]
    faults += [
        f"rule {rule['id']}: tags" for rule in rules if len(rule["properties"]["tags"]) > MOST_TAGS
    ]
    faults += ["too many results"] if len(run["results"]) > MOST_RESULTS else []
    prints = [each["partialFingerprints"]["pulumiDra/v1"] for each in run["results"]]
    faults += ["a fingerprint twice"] if len(set(prints)) != len(prints) else []
    for each in run["results"]:
        place = each["locations"][0]["physicalLocation"]
        if (
            not each["message"]["text"]
            or place["region"]["startLine"] < 1
            or " " in place["artifactLocation"]["uri"]
        ):
            faults.append(f"result of {each['ruleId']}: {place}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
