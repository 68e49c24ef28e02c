"""Generate the TypeScript and Go SDKs from the components' schema, and compile and deploy the
example programs.

    python conformance/sdks/run.py              TypeScript, Go, and YAML
    python conformance/sdks/run.py --only yaml  only one of them
    python conformance/sdks/run.py --compile    don't deploy

The tests compare the schema with the output of the CLI. The example programs are deployed with the
real engine and simulated clouds: preview, up, a second up that must not change anything, and
destroy. The command needs the Go module proxy, and npm with its registry for TypeScript. Go itself
is found on PATH, or installed into the per-user cache. Nothing is written into the checkout.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from deploy import Failed, deploy, place
from dra_sandbox.tools import ToolUnavailable, find_yaml_host
from dra_sandbox.tools.go_toolchain import find_go, go_environment
from language_host import install

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
SCHEMA = PROJECT / "docs/schema/components.json"
GO_SDK = "example.com/pulumi-pulumi-dra/sdk/go/pulumi-dra"
"""The CLI's name for the module that it generates for a package without its own module."""


def main() -> int:
    """Run the checks. Return 1 if one of them failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=("go", "typescript", "yaml"), help="one language")
    parser.add_argument("--compile", action="store_true", help="compile, but don't deploy")
    given = parser.parse_args()
    checks: dict[str, Callable[[Path, Path], None]] = {
        "go": check_go,
        "typescript": check_typescript,
    }
    failed = []
    with tempfile.TemporaryDirectory(prefix="pulumi-dra-sdks-") as scratch:
        sdks = Path(scratch) / "sdks"
        if given.only != "yaml":
            generate(sdks)
        for language in ("go", "typescript", "yaml"):
            if given.only not in (None, language):
                continue
            started = time.monotonic()
            example = place(Path(scratch) / language, language)
            try:
                if language in checks:
                    checks[language](sdks, example)
                    print(f"{language}: compiles, {time.monotonic() - started:.0f} s", flush=True)
                if not given.compile:
                    hosts = (
                        find_yaml_host().parent
                        if language == "yaml"
                        else install(Path(scratch) / "hosts")
                    )
                    deploy(example, hosts, install=language == "yaml")
                    print(f"{language}: deploys, {time.monotonic() - started:.0f} s", flush=True)
            except (Failed, ToolUnavailable) as error:
                failed.append(language)
                print(f"{language}: failed\n{error}", file=sys.stderr)
    return int(bool(failed))


def generate(sdks: Path) -> None:
    """Write the SDKs of the schema into `sdks/go/pulumidra` and `sdks/nodejs`."""
    started = time.monotonic()
    run([str(_go()), "run", ".", str(SCHEMA), str(sdks)], HERE / "generate")
    print(f"SDKs generated, {time.monotonic() - started:.0f} s", flush=True)


def check_go(sdks: Path, folder: Path) -> None:
    """Vet and build the Go example. It uses the generated module as `pulumi package add` would set
    it up.
    """
    sdk = folder / "sdks" / "pulumi-dra"
    shutil.copytree(sdks / "go" / "pulumidra", sdk)
    version = _pinned("github.com/pulumi/pulumi/sdk/v3")
    # The module requires the generators' version of the SDK, because the code and the checksums
    # depend on it.
    (sdk / "go.mod").write_text(
        f"module {GO_SDK}\n\ngo 1.24\n\nrequire github.com/pulumi/pulumi/sdk/v3 {version}\n"
    )
    go = str(_go())
    run(
        [go, "mod", "edit", f"-require={GO_SDK}@v0.0.0", f"-replace={GO_SDK}=./sdks/pulumi-dra"],
        folder,
    )
    run([go, "mod", "edit", f"-require=github.com/pulumi/pulumi/sdk/v3@{version}"], folder)
    run([go, "mod", "tidy"], folder)
    run([go, "vet", "."], folder)
    run([go, "build", "-o", os.devnull, "."], folder)


def check_typescript(sdks: Path, folder: Path) -> None:
    """Compile the generated package, and then the example that imports it, each with its own
    settings.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise Failed("TypeScript needs npm: install Node.js, or use --only go")
    sdk = folder / "sdks" / "pulumi-dra"
    shutil.copytree(sdks / "nodejs", sdk)
    run([npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], folder)
    tsc = str(folder / "node_modules" / ".bin" / "tsc")
    run([tsc, "--project", "sdks/pulumi-dra", "--skipLibCheck"], folder)
    shutil.copy(sdk / "package.json", sdk / "bin" / "package.json")
    run([tsc, "--project", "."], folder)


def run(command: list[str], folder: Path) -> None:
    """Run a command in a folder. Raises Failed with the output of the command."""
    environment = go_environment(os.environ)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Failed(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def _go() -> Path:
    return find_go((1, 26, 0))


def _pinned(module: str) -> str:
    found = re.search(
        rf"^\s*{re.escape(module)} (v\S+)", (HERE / "generate" / "go.mod").read_text(), re.MULTILINE
    )
    assert found is not None, f"generate/go.mod does not require {module}"
    return found[1]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(str(error))
