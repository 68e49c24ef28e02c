r"""Apply changes to running clusters on a real control plane, and compare the result with
`plan --observed`.

    python conformance/scheduler/running_clusters.py --minor 36 --count 20
    python conformance/scheduler/running_clusters.py --minor 36 --count 6 \
        --record tests/planner/plan/running_clusters

Each case is a small random cluster: nodes with devices, workloads of every kind, quotas, limits,
and budgets. Some pods are pending, some rollouts are stuck, and some Jobs are partly completed. The
command takes a snapshot, applies a change, and compares the plan of this change on the snapshot
with the result on the control plane: the verdict, the pods of each workload by node, the pods of
other workloads, and the preempted pods. The exit status is 1 if a difference has no known reason.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/planner/plan"))

# from the folder of the tests that compare the recorded clusters
from cluster_comparison import applied, differences

from cluster_arguments import cluster_arguments
from cluster_objects import shared_objects
from cluster_records import recorded, write_case
from cluster_stage import Stage
from dra_planner.releases import RELEASES
from dra_sandbox.control_plane import ApiServer, Settings, control_plane
from dra_sandbox.rehearsal.scheduler_decisions import PendingWork
from dra_sandbox.tools.kubernetes import find_binaries


def main() -> int:
    """Run the cases. Return 1 if a difference is unexplained."""
    given = cluster_arguments(__doc__)
    verdicts, reasons = Counter[str](), Counter[str]()
    unexplained = 0
    for minor in given.minor or RELEASES:
        with control_plane(Settings(minor), find_binaries(minor), within_seconds=600) as plane:
            server = ApiServer.of(plane)
            for each in shared_objects():
                server.apply(each)
            for seed in range(given.seed, given.seed + given.count):
                stage = Stage(server, PendingWork(plane), minor, seed)
                case = recorded({"kubernetes": plane.version, "seed": seed, **stage.play()})
                if not stage.is_quiet:
                    reasons["didn't settle in time"] += 1
                    continue
                short = "placed" if not case["became"]["incomplete"] else "not all placed"
                verdicts[f"{applied(case).running}, {short}"] += 1
                found = differences(case)
                reasons.update({each.reason for each in found} or {"same"})
                wrong = [each for each in found if each.reason == "unexplained"]
                where = f"1.{minor}, seed {seed} ({', '.join(case['changes'])})"
                print(f"{where}: {'same' if not found else ''}", flush=True)
                for each in found:
                    print(f"  {each.reason}: {each.what}", flush=True)
                unexplained += bool(wrong)
                if given.record or wrong:
                    write_case(given.record or given.failures, case, f"1.{minor}-{seed}")
    print("; ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    print("; ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())))
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main())
