"""A Grafana dashboard of pending claims, the use of claimed devices, and broken devices. Plain
values.
"""

import json
from typing import Any

from pulumi_dra.dra.metrics.alerts import BROKEN, PENDING_CLAIMS, PENDING_PODS, USE_OF_CLAIMS

_SOURCE = {"type": "prometheus", "uid": "${source}"}
_CLAIM = "{{dra_claim_namespace}}/{{dra_claim_name}}"
_BY_CLAIM = 'sum by (dra_claim_namespace, dra_claim_name) ({}{{dra_claim_name!=""}})'

PANELS: tuple[tuple[str, str, str, str, str], ...] = (
    ("stat", "Pods that wait for devices", PENDING_PODS, "", "none"),
    ("stat", "Claims without devices", PENDING_CLAIMS, "", "none"),
    (
        "stat",
        "GPUs held by claims",
        'count(DCGM_FI_DEV_GPU_TEMP{dra_claim_name!=""}) or vector(0)',
        "",
        "none",
    ),
    ("stat", "GPUs with errors", f"count({BROKEN}) or vector(0)", "", "none"),
    ("timeseries", "Use of claimed GPUs", USE_OF_CLAIMS, _CLAIM, "percent"),
    ("timeseries", "Memory in use", _BY_CLAIM.format("DCGM_FI_DEV_FB_USED"), _CLAIM, "decmbytes"),
    ("timeseries", "Power", _BY_CLAIM.format("DCGM_FI_DEV_POWER_USAGE"), _CLAIM, "watt"),
    ("timeseries", "Temperature", "DCGM_FI_DEV_GPU_TEMP", "{{instance}} GPU {{gpu}}", "celsius"),
)
"""Kind, title, expression, legend, and unit of each panel."""


def dashboard_json() -> str:
    """Return the dashboard as JSON text. Grafana 8 and later import it and ask for the Prometheus
    data source.
    """
    panels, x, y = list[dict[str, Any]](), 0, 0
    for number, (kind, title, expression, legend, unit) in enumerate(PANELS, 1):
        width, height = (6, 4) if kind == "stat" else (12, 8)
        panels.append(
            {
                "id": number,
                "type": kind,
                "title": title,
                "datasource": _SOURCE,
                "gridPos": {"x": x, "y": y, "w": width, "h": height},
                "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
                "targets": [
                    {
                        "refId": "A",
                        "datasource": _SOURCE,
                        "expr": expression,
                        "legendFormat": legend,
                    }
                ],
            }
        )
        x, y = (x + width, y) if x + width < 24 else (0, y + height)
    source = {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    dashboard = {
        "uid": "pulumi-dra-gpus",
        "title": "GPUs and claims",
        "tags": ["dra", "gpu"],
        "schemaVersion": 36,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": [source]},
        "panels": panels,
    }
    return json.dumps(dashboard, indent=1, sort_keys=True)
