"""Run checkov on the default resources of the stacks.

    python conformance/checkov/run.py

The command deploys `stacks/` on the simulated clouds and writes their state in formats that checkov
reads: AWS and Google as a Terraform plan, Azure as a Resource Manager template, and objects in the
cluster as manifests. Charts aren't checked here.

The exit status is 1 if a check fails without an exception in `exceptions.csv`, if an exception is
no longer needed, or if checkov has checked nothing. The command needs a package index, because
checkov is installed into the per-user cache. checkov itself doesn't connect to any server.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import rendering
import yaml
from msgspec import Struct

from dra_sandbox.cache import cache_folder
from dra_sandbox.engine import Engine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VERSION = "3.3.30"
STACKS = ("eks-dev", "gke-dev", "aks-dev")


class Finding(Struct, frozen=True):
    """A check that a resource failed."""

    stack: str
    check: str
    kind: str
    resource: str
    title: str


def main() -> int:
    """Check every stack. Return 1 if there is a finding without an exception."""
    program = install()
    exceptions = read_exceptions()
    used: set[tuple[str, str]] = set()
    wrong = []
    for stack in STACKS:
        with tempfile.TemporaryDirectory() as scratch:
            passed, failed = judge(
                program, stack, declared(stack, Path(scratch) / "engine"), Path(scratch) / "files"
            )
        excused = [each for each in failed if (each.check, each.kind) in exceptions]
        used |= {(each.check, each.kind) for each in excused}
        found = [each for each in failed if each not in excused]
        counts = ", ".join(f"{count} of {framework}" for framework, count in sorted(passed.items()))
        print(
            f"{stack}: {sum(passed.values())} checks passed ({counts}), {len(excused)} excused, "
            f"{len(found)} failed"
        )
        wrong += [
            f"{each.stack}: {each.check} of {each.resource} ({each.kind}): {each.title}"
            for each in found
        ]
        wrong += [f"{stack}: nothing was checked"] if not passed else []
    wrong += [
        f"exceptions.csv: {check} of {kind} isn't needed"
        for check, kind in sorted(exceptions.keys() - used)
    ]
    print("\n".join(wrong))
    return int(bool(wrong))


def install() -> Path:
    """Return the command of the pinned version. It's installed once."""
    folder = cache_folder() / f"checkov-{VERSION}"
    program = folder / "bin" / "checkov"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run(
            [str(folder / "bin" / "pip"), "install", "--quiet", f"checkov=={VERSION}"], check=True
        )
        (folder / "ready").touch()
    return program


def read_exceptions() -> Mapping[tuple[str, str], str]:
    """Return the exceptions: the reason why a kind of resource doesn't have to pass a check, by
    check and kind.
    """
    with (HERE / "exceptions.csv").open(encoding="utf-8") as file:
        return {(row["check"], row["resource"]): row["reason"] for row in csv.DictReader(file)}


def declared(stack: str, folder: Path) -> Sequence[rendering.Resource]:
    """Return the resources of a stack after its first `up`. The control plane has its private
    default settings.
    """
    engine = Engine(folder, ROOT)
    settings = engine.settings_folder / f"Pulumi.{stack}.yaml"
    document = yaml.safe_load(settings.read_text(encoding="utf-8"))
    document["config"]["pulumi-dra:fleet"].pop("endpoint")
    settings.write_text(yaml.safe_dump(document), encoding="utf-8")
    plan = [sys.executable, "-m", "dra_command", "plan", "--stack", stack, "--write"]
    subprocess.run(plan, cwd=engine.view, check=True, stdout=subprocess.DEVNULL)
    engine.stack_init(stack)
    done = engine.up(stack, skip_preview=True)
    if not done.ok:
        sys.exit(done.output)
    return engine.resources(stack)


def judge(
    program: Path, stack: str, resources: Sequence[rendering.Resource], folder: Path
) -> tuple[Counter[str], list[Finding]]:
    """Return the number of passed checks by framework, and the failed checks."""
    folder.mkdir()
    plan, template = rendering.terraform_plan(resources), rendering.arm_template(resources)
    if plan["resource_changes"]:
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    if template["resources"]:
        (folder / "template.json").write_text(json.dumps(template), encoding="utf-8")
    (folder / "manifests.yaml").write_text(
        yaml.safe_dump_all(rendering.manifests(resources)), encoding="utf-8"
    )
    command = [
        str(program),
        "--directory",
        str(folder),
        "--framework",
        "terraform_plan",
        "arm",
        "kubernetes",
    ]
    done = subprocess.run(
        [*command, "--output", "json", "--quiet", "--skip-download"],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"checkov didn't print JSON:\n{done.stdout}{done.stderr}")
    passed: Counter[str] = Counter()
    failed = []
    for report in answer if isinstance(answer, list) else [answer]:
        passed[report["check_type"]] += report["summary"]["passed"]
        failed += [_finding(stack, each) for each in report["results"]["failed_checks"]]
    return +passed, failed


def _finding(stack: str, check: Mapping[str, Any]) -> Finding:
    """Return a finding. Its resource is identified by kind and name. Only names in the cluster
    contain dots.
    """
    resource = str(check["resource"])
    of_azure = resource.startswith("Microsoft.")
    kind = resource.rpartition(".")[0] if of_azure else resource.partition(".")[0]
    return Finding(stack, check["check_id"], kind, resource, check["check_name"])


if __name__ == "__main__":
    sys.exit(main())
