"""Kill one process of a control plane at a random moment, again and again. The next control plane
must start, and nothing may be left behind.

    python conformance/control_plane/killed_processes.py --count 50

In every round, a separate process starts a persistent control plane, as `sandbox up` does. At a
random moment while it starts or runs, one process is killed with SIGKILL: etcd, the API server, the
scheduler, the controller manager, the kubelet, or the starter itself. The remaining processes are
then stopped as `sandbox down` does, and no process, port, or file may remain. The next round is a
new start, which must become ready unless one of its processes is killed too.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from dra_sandbox.control_plane import ControlPlaneError, stop
from dra_sandbox.control_plane.plane import COMPONENTS, read_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.tools.kubernetes import find_binaries

_START = """
import sys
from pathlib import Path
from dra_sandbox.control_plane import ControlPlaneError, Settings, start
from dra_sandbox.tools.kubernetes import find_binaries
try:
    start(Path(sys.argv[1]), Settings(int(sys.argv[2])), find_binaries(int(sys.argv[2])), within_seconds=300)
except ControlPlaneError as error:
    print(error, file=sys.stderr)
    sys.exit(7)
"""
_REFUSED = 7  # the starter exited with one of our error messages
STARTER = "starter"


def main() -> int:
    """Run the rounds. Return 1 if a round left something behind, or didn't end as expected."""
    given = _arguments()
    chance = random.Random(given.seed)
    find_binaries(given.minor)
    typical, faults = 6.0, list[str]()
    kills, ends = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent).resolve() / "plane"
        for number in range(1, given.count + 1):
            victim = chance.choice([*COMPONENTS, STARTER])
            moment = chance.uniform(0.2, 2 * typical)
            found = _round(folder, given.minor, victim, moment)
            kills[f"{victim} {'while it started' if found.was_starting else 'while it ran'}"] += 1
            ends[found.end] += 1
            if found.seconds_to_ready:
                typical = (typical + found.seconds_to_ready) / 2
            for fault in found.faults:
                faults.append(f"round {number}, {victim} after {moment:.1f} s: {fault}")
                print(faults[-1], flush=True)
    print(
        f"{given.count} rounds: "
        f"{', '.join(f'{count} {name}' for name, count in sorted(kills.items()))}"
    )
    print(
        f"starts: {', '.join(f'{count} {name}' for name, count in sorted(ends.items()))}; "
        f"{len(faults)} faults"
    )
    return int(bool(faults))


class Round:
    """The result of one round."""

    def __init__(self) -> None:
        self.was_starting = True
        self.end = ""
        self.seconds_to_ready = 0.0
        self.faults: list[str] = []


def _round(folder: Path, minor: int, victim: str, moment: float) -> Round:
    found, began = Round(), time.monotonic()
    starter = subprocess.Popen(
        [sys.executable, "-c", _START, str(folder), str(minor)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        starter.wait(moment)
    except subprocess.TimeoutExpired:
        pass
    else:
        found.seconds_to_ready = time.monotonic() - began
        time.sleep(max(0.0, moment - found.seconds_to_ready))
    found.was_starting = starter.poll() is None
    _kill(folder, starter, victim)
    status, output = _end_of(starter)
    match status:
        case 0:
            found.end = "became ready"
        case _ if status == _REFUSED and found.was_starting and output.strip():
            found.end = "reported the ended process"
        case _ if status == -signal.SIGKILL and victim == STARTER:
            found.end = "were killed"
        case _:
            found.end = "failed"
            found.faults.append(f"the starter ended with {status}: {output[-500:]}")
    found.faults += _left_after_stop(folder)
    return found


def _kill(folder: Path, starter: subprocess.Popen[str], victim: str) -> None:
    if victim == STARTER:
        starter.kill()
        return
    process = running(folder).get(victim)
    if process is not None:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            return


def _end_of(starter: subprocess.Popen[str]) -> tuple[int, str]:
    _, output = starter.communicate(timeout=400)
    return starter.returncode, output


def _left_after_stop(folder: Path) -> list[str]:
    try:
        ports = list(_ports(folder))
    except ControlPlaneError:
        ports = []  # killed before the file was written
    stop(folder)
    faults = [f"{name} is still running" for name in running(folder)]
    faults += [f"{folder} still exists"] if folder.exists() else []
    named = [
        each
        for each in psutil.process_iter(["cmdline"])
        if str(folder) in " ".join(each.info["cmdline"] or [])
    ]
    faults += [f"process {each.pid} still uses the folder" for each in named]
    listening = {
        each.laddr.port
        for each in psutil.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN
    }
    return faults + [f"port {port} is still in use" for port in ports if port in listening]


def _ports(folder: Path) -> tuple[int, ...]:
    """Return the ports of the control plane in a folder, or raise ControlPlaneError."""
    ports = read_plane(folder).ports
    return ports.etcd, ports.etcd_peer, ports.api_server, ports.controller_manager, ports.scheduler


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minor", type=int, default=36)
    parser.add_argument("--count", type=int, default=50, help="rounds, default: %(default)s")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
