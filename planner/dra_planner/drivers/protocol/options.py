"""Options of a driver whose only setting is its chart's version."""

from typing import Annotated

from pydantic import Field

from dra_planner.documents.models import StrictDocument, refused_by
from dra_planner.drivers.protocol.versions import chart_version_fault


class ChartOptions(StrictDocument):
    """A driver that has no options except its chart version."""

    version: Annotated[str, refused_by(chart_version_fault)] = Field(
        default="",
        description="Version of the Helm chart. Default: the version with which this package was "
        "tested.",
    )
