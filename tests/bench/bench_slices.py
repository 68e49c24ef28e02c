"""Time to predict the devices of every machine type in the catalog: `python
tests/bench/bench_slices.py`.

The benchmark covers each EKS and GKE machine type with every installable driver version on
Kubernetes 1.36, starting with empty caches. Compare the time with the time that Python needs to
import pydantic and the YAML reader in the same run.
"""

from __future__ import annotations

import time

CLOUDS = ("eks", "gke")


def main() -> None:
    """Print the number of predictions, the seconds, and the ratio to the imports."""
    started = time.perf_counter()
    import pydantic  # noqa: F401  (what is measured is its import)
    import yaml  # noqa: F401

    imports = time.perf_counter() - started

    started = time.perf_counter()
    from dra_planner import catalog
    from dra_planner.drivers import nvidia
    from dra_planner.drivers.nvidia import predict_slices
    from dra_planner.errors import PlannerError
    from dra_planner.releases import features_of

    features, predictions, refused = features_of(36), 0, 0
    for cloud in CLOUDS:
        for machine in catalog.machines(cloud):
            for driver in nvidia.driver_releases():
                try:
                    predict_slices(machine, driver, node_name="node", features=features)
                    predictions += 1
                except PlannerError:
                    refused += 1
    predicting = time.perf_counter() - started
    times = f"{predicting:.2f} s, {predicting / imports:.1f} times the imports"
    print(f"{predictions} predictions ({refused} refused) in {times}")


if __name__ == "__main__":
    main()
