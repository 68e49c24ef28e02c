"""Create the environment of a checkout: `python3 sandbox/bootstrap.py`.

Needs only Python 3.11 with its standard library. Finds uv or installs it into the per-user cache,
then installs the packages of uv.lock into `.venv`. If the environment is up to date, it exits
immediately without output.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
STAMP = ENVIRONMENT / "pulumi-dra.stamp"

UV_VERSION = "0.13.9"
# First version of uv that reads a lock file of revision 3 or later.
UV_MINIMUM = (0, 8)


class BootstrapError(Exception):
    """The environment can't be created. The message contains the reason and a fix."""


def main() -> int:
    """Create the environment, and return 0 when it's ready."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the Python that runs this is the system's, whatever its version
        print(
            f"error: Python 3.11 or later is required, but this is {sys.version.split()[0]}",
            file=sys.stderr,
        )
        return 1
    wanted = description()
    if is_ready(wanted):
        return 0
    from dra_sandbox.cache import CacheUnusable, exclusive

    try:
        key = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
        with exclusive(
            f"environment-{key}",
            lambda: print_progress("waiting for another process that creates the environment"),
        ):
            if not is_ready(wanted):
                make(wanted)
    except (BootstrapError, CacheUnusable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def description() -> str:
    """Return the text that identifies an environment: its pinned packages and the path of the
    checkout, to which the editable installation points.
    """
    digest = hashlib.sha256()
    for name in ("uv.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return json.dumps({"checkout": str(ROOT), "pins": digest.hexdigest()})


def is_ready(wanted: str) -> bool:
    """Return True if the environment matches the pins, and its Python and its editable installation
    still exist.
    """
    if not STAMP.is_file() or STAMP.read_text(encoding="utf-8") != wanted:
        return False
    links = list(ENVIRONMENT.glob("lib/python3*/site-packages/_pulumi_dra.pth"))
    return (ENVIRONMENT / "bin" / "python").exists() and any(
        str(ROOT / "sandbox") in link.read_text(encoding="utf-8").splitlines() for link in links
    )


def make(wanted: str) -> None:
    """Install the locked packages, and mark the environment as complete."""
    uv = find_uv()
    if STAMP.is_file() and json.loads(STAMP.read_text(encoding="utf-8")).get("checkout") != str(
        ROOT
    ):
        # A checkout that was moved: the scripts in its environment contain the old path.
        shutil.rmtree(ENVIRONMENT)
    STAMP.unlink(missing_ok=True)
    started = time.monotonic()
    print_progress(f"installing the packages in uv.lock into {ENVIRONMENT.name} …")
    command = [uv, "sync", "--locked", *([] if sys.stderr.isatty() else ["--quiet"])]
    if not (ENVIRONMENT / "bin" / "python").exists():
        command += ["--python", sys.executable]
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment["UV_PROJECT_ENVIRONMENT"] = str(ENVIRONMENT)
    # Use the system's trusted certificates, as pip and Go do. Older versions of uv use the first
    # name.
    for name in ("UV_NATIVE_TLS", "UV_SYSTEM_CERTS"):
        environment.setdefault(name, "true")
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    if done.returncode != 0:
        raise BootstrapError(
            f"uv sync failed with status {done.returncode}; the output above shows the reason"
        )
    STAMP.write_text(wanted, encoding="utf-8")
    print_progress(f"environment ready in {time.monotonic() - started:.0f} s")


def find_uv() -> str:
    """Return a recent uv from PATH or the per-user cache, and install it there if it's missing."""
    from dra_sandbox.cache import cache_folder, obtain

    on_path = shutil.which("uv")
    if on_path is not None:
        answer = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=False)
        numbers = answer.stdout.split()[1].split(".") if answer.returncode == 0 else []
        if tuple(int(number) for number in numbers[:2] if number.isdigit()) >= UV_MINIMUM:
            return on_path
    folder = obtain(cache_folder() / "tools" / f"uv-{UV_VERSION}", install_uv)
    return str(folder / "bin" / "uv")


def install_uv(target: Path) -> None:
    """Install uv into `target` with this Python's pip."""
    started = time.monotonic()
    print_progress(f"installing uv {UV_VERSION}, because a recent version isn't on PATH …")
    arguments = [
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--target",
        str(target),
        f"uv=={UV_VERSION}",
    ]
    tried = []
    for name, pip in (
        ("pip of this Python", own_pip),
        ("pip in a new environment", new_pip),
        ("pip's wheel", wheel_pip),
    ):
        try:
            subprocess.run([*pip(target), *arguments], check=True, capture_output=True, text=True)
        except (subprocess.CalledProcessError, OSError, BootstrapError) as error:
            output = (
                error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
            )
            tried.append(f"{name}: {(output or '').strip().splitlines()[-1:] or ['failed']}")
            continue
        shutil.rmtree(target / ".pip", ignore_errors=True)
        print_progress(f"uv {UV_VERSION} installed in {time.monotonic() - started:.0f} s")
        return
    raise BootstrapError(
        "can't install uv; install uv yourself, and put it on PATH. Tried " + "; ".join(tried)
    )


def own_pip(scratch: Path) -> "list[str]":
    """Return this Python's pip."""
    return [sys.executable, "-m", "pip"]


def new_pip(scratch: Path) -> "list[str]":
    """Return the pip of a temporary virtual environment. Debian's Python lacks ensurepip for it."""
    place = scratch / ".pip" / "environment"
    subprocess.run(
        [sys.executable, "-m", "venv", str(place)], check=True, capture_output=True, text=True
    )
    return [str(place / "bin" / "python"), "-m", "pip"]


def wheel_pip(scratch: Path) -> "list[str]":
    """Return a pip that runs from its own wheel, which uv.lock pins."""
    import tomllib
    import urllib.request

    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    pinned = next(package["wheels"][0] for package in lock["package"] if package["name"] == "pip")
    try:
        with urllib.request.urlopen(pinned["url"], timeout=60) as answer:
            content = answer.read()
    except OSError as error:
        raise BootstrapError(f"cannot fetch {pinned['url']}: {error}") from error
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != pinned["hash"]:
        raise BootstrapError(f"{pinned['url']} isn't the file that uv.lock pins")
    wheel = scratch / ".pip" / pinned["url"].rsplit("/", 1)[-1]
    wheel.parent.mkdir(parents=True, exist_ok=True)
    wheel.write_bytes(content)
    return [sys.executable, str(wheel / "pip")]


def print_progress(text: str) -> None:
    """Print one line of progress."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
