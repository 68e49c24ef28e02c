"""Start control planes, and always stop them."""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Final

from dra_sandbox.cache import cache_folder
from dra_sandbox.control_plane.api import ApiServer
from dra_sandbox.control_plane.commands import SCHEDULER_CONFIGURATION, commands
from dra_sandbox.control_plane.credentials import make_credentials, write_kubeconfig
from dra_sandbox.control_plane.plane import SERVERS, ControlPlane, Ports, Settings, is_kept
from dra_sandbox.control_plane.problems import (
    ControlPlaneError,
    NotReady,
    PortTaken,
    disk_full,
    ended,
    tail,
    unwritable,
)
from dra_sandbox.control_plane.processes import end, spawn
from dra_sandbox.tools.kubernetes import BINARIES, Binaries, find_binaries

# Another program can take a free port before the server listens on it.
_TRIES: Final = 3
_LOOK_EVERY_SECONDS: Final = 0.1
_NEEDED_MIB: Final = 300  # etcd's preallocated log, and a database for a few thousand pods
_LOCK: Final = "owner.lock"


def start(
    folder: Path,
    settings: Settings,
    binaries: Binaries,
    *,
    outlives_us: bool = True,
    within_seconds: float = 120,
) -> ControlPlane:
    """Start a control plane in `folder`, which must be empty or missing, and return it when its API
    server is ready. If the start fails, all started processes are stopped.

    Raises ControlPlaneError if the disk is full or the folder is in use, and NotReady after
    `within_seconds`.
    """
    folder = folder.resolve()
    if is_kept(folder):
        raise ControlPlaneError(
            f"{folder} already contains a control plane; run `pulumi-dra sandbox down` first"
        )
    _make_folder(folder)
    for attempt in range(1, _TRIES + 1):
        try:
            return _try(folder, settings, binaries, outlives_us, within_seconds)
        except PortTaken:
            if attempt == _TRIES:
                raise
    raise AssertionError  # the last attempt has returned or raised


def stop(folder: Path) -> None:
    """Stop all processes of the control plane in `folder`, in reverse order, and remove the folder.

    This also works after a crash or an incomplete start.
    """
    folder = folder.resolve()
    end(folder)
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def control_plane(
    settings: Settings, binaries: Binaries | None = None, *, within_seconds: float = 120
) -> Generator[ControlPlane]:
    """Run a control plane while the block runs. If `binaries` is None, they are found or built.

    Raises ToolUnavailable as `find_binaries` does, and ControlPlaneError as `start` does.
    """
    found = binaries or find_binaries(
        settings.minor, names=[name for name in settings.components if name in BINARIES]
    )
    _sweep()
    with _owned_folder() as folder, stopped_on_signals():
        try:
            yield start(folder, settings, found, outlives_us=False, within_seconds=within_seconds)
        finally:
            stop(folder)


def _try(
    folder: Path, settings: Settings, binaries: Binaries, outlives_us: bool, within_seconds: float
) -> ControlPlane:
    try:
        plane = _prepare(folder, settings, binaries.version)
    except OSError as error:
        raise unwritable(folder, error) from error
    until, started = time.monotonic() + within_seconds, dict[str, subprocess.Popen[bytes]]()
    try:
        made = commands(plane, settings, binaries)
        for component in (name for name in made if name in SERVERS):
            started[component] = spawn(
                made[component], plane.log(component), outlives_us=outlives_us
            )
        _wait(plane, started, until, _is_healthy)
        for component in (name for name in made if name not in SERVERS):
            started[component] = spawn(
                made[component], plane.log(component), outlives_us=outlives_us
            )
        _wait(plane, started, until, _is_ready)
    except BaseException:
        stop(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        raise
    return plane


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise unwritable(folder, error) from error
    if shutil.disk_usage(folder).free < _NEEDED_MIB * 1024 * 1024:
        raise disk_full(folder)


def _prepare(folder: Path, settings: Settings, version: str) -> ControlPlane:
    """Write all files that the components read."""
    token = make_credentials(folder)
    plane = ControlPlane(
        folder, settings.minor, version, Ports(*_free_ports(5)), token, settings.components
    )
    plane.write()
    write_kubeconfig(plane)
    (folder / "scheduler.yaml").write_text(
        SCHEDULER_CONFIGURATION.format(kubeconfig=plane.kubeconfig), encoding="utf-8"
    )
    return plane


def _wait(
    plane: ControlPlane,
    started: dict[str, subprocess.Popen[bytes]],
    until: float,
    is_there: Callable[[ApiServer], bool],
) -> None:
    """Return when `is_there` is true for the API server. Raises NotReady or PortTaken."""
    server = ApiServer.of(plane)
    while True:
        for component, process in started.items():
            if process.poll() is not None:
                raise ended(component, plane.log(component), process.returncode, plane.folder)
        try:
            if is_there(server):
                return
        except ControlPlaneError:  # the server isn't listening yet
            pass
        if time.monotonic() > until:
            log = plane.log("kube-apiserver")
            raise NotReady(
                f"kube-apiserver {plane.version} wasn't ready in time; its log ends "
                f"with:{tail(log)}"
            )
        time.sleep(_LOOK_EVERY_SECONDS)


def _is_healthy(server: ApiServer) -> bool:
    """Return True if the API server reports that it's healthy.

    The controller manager exits if the API server isn't healthy within 10 seconds, which can happen
    on a busy machine. Source: kubernetes/kubernetes:cmd/kube-controller-manager/app/
    controllermanager.go @v1.36.3 (WaitForAPIServer).
    """
    return server.request("GET", "/healthz").status == http.client.OK


def _is_ready(server: ApiServer) -> bool:
    """Return True if the API server is ready and has created its own namespace and priority
    classes.
    """
    paths = (
        "/readyz",
        "/api/v1/namespaces/default",
        "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
    )
    return all(server.request("GET", path).status == http.client.OK for path in paths)


def _free_ports(count: int) -> list[int]:
    """Return different free ports.

    All ports are held at the same time, so that none is returned twice.
    """
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


@contextlib.contextmanager
def _owned_folder() -> Generator[Path]:
    """Yield a new folder in the cache that is marked as in use while this process runs."""
    parent = cache_folder() / "control-planes"
    parent.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    with (parent / f"{folder.name}.{_LOCK}").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder / "plane"
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            Path(lock.name).unlink(missing_ok=True)


def _sweep() -> None:
    """Stop the processes and remove the files of killed runs."""
    for lock in (cache_folder() / "control-planes").glob(f"*.{_LOCK}"):
        with (
            contextlib.suppress(FileNotFoundError, BlockingIOError),
            lock.open("r+", encoding="utf-8") as held,
        ):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            folder = lock.with_name(lock.name.removesuffix(f".{_LOCK}"))
            stop(folder / "plane")
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)


@contextlib.contextmanager
def stopped_on_signals() -> Generator[None]:
    """Convert termination signals into an exception, so that cleanup code runs."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
