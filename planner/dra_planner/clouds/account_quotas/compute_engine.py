"""Quotas of `gcloud compute regions describe REGION --format json`: GPUs and vCPUs of a region, and
their usage.

Names of metrics: https://cloud.google.com/compute/resource-usage (seen 2026-11). GPUs of newer
models (H100 and later) have quotas that this command doesn't print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from dra_planner.catalog import machines
from dra_planner.clouds.account_quotas.quota import AccountQuota
from dra_planner.documents.plain_values import blocks, text, whole

CLOUD: Final = "gke"
_GPUS: Final = re.compile(r"(?P<spot>PREEMPTIBLE_)?NVIDIA_(?P<model>[A-Z0-9_]+)_GPUS")
_VCPUS: Final = re.compile(r"(?P<series>[A-Z]+\d[A-Z]?)_CPUS")


def is_compute_engine(data: Any) -> bool:
    """Return whether plain data is such an export."""
    return isinstance(data, Mapping) and any(
        "metric" in each and "limit" in each for each in blocks(data, "quotas")
    )


def read_compute_engine(data: Mapping[str, Any]) -> Iterator[AccountQuota]:
    """Yield the quotas of GPUs and of vCPUs of machine series."""
    by_type: dict[str, list[str]] = {}
    for machine in machines(CLOUD):
        if machine.accelerator is not None and machine.accelerator.gke_type:
            by_type.setdefault(_metric_of(machine.accelerator.gke_type), []).append(machine.name)
    for row in blocks(data, "quotas"):
        metric, limit = text(row.get("metric")), whole(row.get("limit"))
        gpus, vcpus = _GPUS.fullmatch(metric), _VCPUS.fullmatch(metric)
        names: tuple[str, ...] = ()
        # machine types with built-in GPUs, and GPUs that are attached to other machine types
        if gpus is not None:
            attached = f"*+nvidia-tesla-{gpus['model'].lower().replace('_', '-')}:*"
            names = (*by_type.get(gpus["model"], ()), attached)
        if vcpus is not None:
            names = (f"{vcpus['series'].lower()}-*",)
        if limit is None or not names:
            continue
        spot = gpus is not None and bool(gpus["spot"])
        yield AccountQuota(
            name=metric,
            unit="gpus" if gpus is not None else "vcpus",
            limit=limit,
            used=whole(row.get("usage")) or 0,
            machines=names,
            capacity=("spot",) if spot else ("on-demand", "reservation"),
            request=partial(_request, metric),
        )


def _metric_of(accelerator: str) -> str:
    """Return an accelerator's model as metric names spell it: nvidia-a100-80gb → A100_80GB."""
    return accelerator.removeprefix("nvidia-").removeprefix("tesla-").replace("-", "_").upper()


def _request(metric: str, limit: int) -> str:
    quota = metric.replace("_", "-")
    return (
        "gcloud beta quotas preferences create --service=compute.googleapis.com "
        f"--quota-id={quota}-per-project-region "
        f"--preferred-value={limit} --dimensions=region=REGION --project=PROJECT"
    )
