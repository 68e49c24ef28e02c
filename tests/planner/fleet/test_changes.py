"""Values of a fleet changed by path, as --what-if and --matrix give them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.changes import FleetEdit, change_fleet, read_change, read_values

DOCUMENT: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [
        {"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}, "pricePerHour": 1.5},
        {"name": "h100", "machine": "p5.48xlarge", "count": {"max": 2}},
    ],
}


def fleet() -> Fleet:
    return read_fleet(DOCUMENT)


def changed(*texts: str) -> Fleet:
    return change_fleet(fleet(), [read_change(text) for text in texts])


def test_number_version_and_gate_can_be_changed() -> None:
    made = changed(
        "pools.l4.count.max=8",
        "kubernetes=1.36",
        "driver=0.4.1",
        "drivers.nvidia.featureGates.DynamicMIG=true",
    )
    assert made.pool("l4").count.max == 8
    assert made.minor == 36
    assert made.drivers.nvidia.version == "0.4.1"
    assert made.drivers.nvidia.feature_gates == {"DynamicMIG": True}
    assert [pool.name for pool in made.pools] == ["l4", "h100"]


def test_other_settings_do_not_change() -> None:
    assert changed("pools.l4.count.max=4") == fleet()
    assert changed("pools.h100.count=3").pool("h100").count.is_fixed


def test_pool_can_be_added_or_replaced() -> None:
    made = changed("pools.a100={machine: p4d.24xlarge, count: {max: 1}}")
    assert [pool.name for pool in made.pools] == ["l4", "h100", "a100"]
    made = changed("pools.l4={machine: g5.2xlarge, count: 1}")
    assert [(pool.name, pool.machine) for pool in made.pools] == [
        ("l4", "g5.2xlarge"),
        ("h100", "p5.48xlarge"),
    ]


def test_new_machine_type_does_not_keep_the_price() -> None:
    assert changed("pools.l4.machine=g5.2xlarge").pool("l4").price_per_hour is None
    assert changed("pools.l4.machine=g5.2xlarge", "pools.l4.pricePerHour=2").pool(
        "l4"
    ).price_per_hour == Decimal(2)
    assert changed("pools.l4.capacity=spot").pool("l4").price_per_hour == Decimal("1.5")
    reserved = changed("pools.l4.capacity={reservation: cr-0123456789abcdef0}").pool("l4")
    assert reserved.source.reservation == "cr-0123456789abcdef0"


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("kubernetes", "\" doesn't set a value", "PATH=VALUE"),
        ("kubernetes=", "\" doesn't set a value", "PATH=VALUE"),
        ("kuberntes=1.36", "isn't a key of the fleet", ""),
        (
            "pools.l4.cuont.max=1",
            'the fleet doesn\'t have "pools.l4.cuont"',
            'did you mean "count"?',
        ),
        ("pools.a10.count.max=1", '"a10" isn\'t in the fleet', "use one of these names: l4, h100"),
        ("pools.l4=8", "must be a mapping", "pools.l4.KEY=VALUE"),
        ("pools.l4.name.x=8", "doesn't have keys", ""),
        ("region.x=8", "doesn't have keys", ""),
        ("pools.l4.count.max=-1", "(with pools.l4.count.max=-1)", ""),
        ("pools.l4.count.max=many", "must be an integer", ""),
        ("kubernetes=1.99", "(with kubernetes=1.99)", ""),
        ("pools.l4.machine=g6.3xlarge", "unknown EKS machine type", ""),
        ("pools.l4.labels={", "can't be read as YAML", ""),
    ],
)
def test_invalid_change_is_reported_with_a_fix(text: str, message: str, fix: str) -> None:
    with pytest.raises(FleetError) as refused:
        changed(text)
    assert message in str(refused.value)
    assert fix in refused.value.fix


def test_values_are_split_at_commas_outside_brackets_and_quotes() -> None:
    assert read_values("kubernetes=1.34,1.35,1.34") == (
        FleetEdit("kubernetes", "1.34"),
        FleetEdit("kubernetes", "1.35"),
    )
    assert [each.value for each in read_values("pools.l4.zones=[a,b],[c]")] == ["[a,b]", "[c]"]
    assert [each.value for each in read_values("pools.l4.count={min: 1, max: 2},3")] == [
        "{min: 1, max: 2}",
        "3",
    ]
    assert [each.value for each in read_values('region="a,b",c')] == ['"a,b"', "c"]
