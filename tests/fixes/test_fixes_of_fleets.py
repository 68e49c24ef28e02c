"""Errors in a fleet contain their fix in one sentence. After the test follows the fix, the error is
gone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from fix_cases import FLEET, changed
from fix_texts import pattern_of
from msgspec import Struct

from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet

CLOUDS: dict[str, dict[str, Any]] = {
    "eks": {},
    "aks": {
        "cloud": "aks",
        "region": "eastus",
        "systemPool.machine": "Standard_D4s_v5",
        "pools.0.machine": "Standard_NC24ads_A100_v4",
    },
    "gke": {
        "cloud": "gke",
        "region": "us-central1",
        "systemPool.machine": "e2-standard-4",
        "pools.0.machine": "g2-standard-4",
    },
}


class Refused(Struct, frozen=True, kw_only=True):
    """`put` changes the fleet of a cloud so that it's rejected. `then_put` follows the fix in the
    error.
    """

    fix: str
    put: dict[str, Any]
    then_put: dict[str, Any]
    cloud: str = "eks"


REFUSED = [
    Refused(**row)
    for row in yaml.safe_load((Path(__file__).parent / "fleet_refusals.yaml").read_text("utf-8"))
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.fix[:60])
def test_applying_a_fix_makes_the_fleet_valid(case: Refused) -> None:
    fleet = changed(changed(FLEET, CLOUDS[case.cloud]), case.put)
    with pytest.raises(PlannerError) as refused:
        read_fleet(fleet)
    texts = [str(each) for each in (refused.value, *refused.value.others)] + [refused.value.fix]
    assert any(pattern_of(case.fix).search(each) for each in texts), texts
    read_fleet(changed(fleet, case.then_put))
