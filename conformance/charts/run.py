"""Install every release that the example fleets declare, with the real Helm in a real API server.

    python conformance/charts/run.py                     every fleet and release, on the newest
                                                         minor version
    python conformance/charts/run.py --charts FOLDER     use your own charts: NAME-VERSION (a
                                                         folder) or NAME-VERSION.tgz
    python conformance/charts/run.py --only eks-dev --releases 0.4.1,0.5.0
    python conformance/charts/run.py --drivers           only the drivers of other vendors

Charts are downloaded from their public repositories, or else from the Go module proxy. If a chart
isn't available, its name is printed, and its releases are omitted. The exit status is 1 if an
object is rejected, and with --require also if a release is omitted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from itertools import chain
from pathlib import Path

from install import Cluster
from platforms import cases, cases_of_other_drivers, declared_in, example_fleets

from dra_planner.drivers.nvidia import driver_releases
from dra_planner.releases import RELEASES
from dra_sandbox.control_plane import ApiServer, Settings, control_plane
from dra_sandbox.tools.charts import Charts
from dra_sandbox.tools.go_module import ToolUnavailable
from dra_sandbox.tools.helm import find_helm
from dra_sandbox.tools.kubernetes import find_binaries
from pulumi_dra.inputs.reader import WrongInputs


def main() -> int:
    """Run the cases. Return 1 if an object was rejected."""
    given = _arguments()
    started, refused, count = time.monotonic(), Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="pulumi-dra-charts-") as scratch:
        folder = Path(scratch)
        charts = Charts(find_helm(), folder, given.charts)
        binaries = find_binaries(given.minor, given.binaries, ("etcd", "kube-apiserver"))
        with control_plane(
            Settings(given.minor, scheduling=False), binaries, within_seconds=600
        ) as plane:
            cluster = Cluster(ApiServer.of(plane), plane.kubeconfig, charts, folder)
            every = [] if given.drivers else [cases(given.minor, given.only, given.releases)]
            others = [] if given.only or given.releases else [cases_of_other_drivers(given.minor)]
            for case in chain(*every, *others):
                if isinstance(case, str):
                    print(f"rejected with the fleet: {case}", flush=True)
                    continue
                count += 1
                before = len(cluster.left_out)
                try:
                    declared = declared_in(case)
                # for example, an autoscaler without a known version for this minor version
                except WrongInputs as refused_inputs:
                    print(f"rejected with the platform: {case.name}: {refused_inputs}", flush=True)
                    continue
                faults = list(cluster.install(declared))
                refused.update(faults)
                without = (
                    f", without {', '.join(cluster.left_out[before:])}"
                    if cluster.left_out[before:]
                    else ""
                )
                print(f"{case.name}: {'; '.join(faults) or 'installed'}{without}", flush=True)
        print(
            f"\n{count} platforms on Kubernetes {binaries.version}, "
            f"{time.monotonic() - started:.0f} s: ",
            end="",
        )
        print(
            f"{cluster.installed} distinct releases installed, {cluster.applied} objects, "
            f"{len(refused)} faults"
        )
        for (name, version), reason in sorted(charts.missing.items()):
            print(f"omitted: chart {name} {version} isn't available: {reason}")
        for what, times in sorted(Counter(cluster.left_out).items()):
            print(f"omitted: {what}, {times} times")
        for fault, times in refused.most_common():
            print(f"rejected {times} times: {fault}", file=sys.stderr)
    return int(bool(refused) or not cluster.installed or (given.require and bool(cluster.left_out)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--charts",
        type=Path,
        metavar="FOLDER",
        help="folder with your own charts, which take precedence",
    )
    parser.add_argument("--minor", type=int, default=max(RELEASES), choices=tuple(RELEASES))
    parser.add_argument("--only", default="", metavar="FLEET", help="name of one fleet")
    parser.add_argument(
        "--releases",
        type=lambda text: tuple(text.split(",")),
        default=(),
        help="versions of the driver, comma-separated",
    )
    parser.add_argument(
        "--drivers", action="store_true", help="only the drivers of vendors other than NVIDIA"
    )
    parser.add_argument("--binaries", type=Path, help="folder with etcd and kube-apiserver")
    parser.add_argument("--require", action="store_true", help="fail if a chart isn't available")
    given = parser.parse_args()
    if given.charts is not None and not given.charts.is_dir():
        parser.error(f"--charts: {given.charts} isn't a folder")
    names = [name for name, _ in example_fleets()]
    if given.only and given.only not in names:
        parser.error(f"--only: there is no fleet {given.only}; use one of {', '.join(names)}")
    known = [each.version for each in driver_releases()]
    for version in given.releases:
        if version not in known:
            parser.error(f"--releases: there is no driver {version}; use one of {', '.join(known)}")
    return given


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ToolUnavailable as error:
        sys.exit(str(error))
