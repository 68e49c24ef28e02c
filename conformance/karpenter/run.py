"""Compare predicted devices with the tables of Karpenter's AWS provider, and fail if a difference
isn't explained by one of our tables.

    python conformance/karpenter/run.py
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.catalog import machine
from dra_planner.catalog.tables import read_table
from dra_planner.drivers import DriverNode, driver
from dra_planner.model import AttributeValue, Device, Unknown
from dra_planner.quantity import Quantity
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_sandbox.tools.go_toolchain import find_go, go_environment

_MODULE: Final = "github.com/aws/karpenter-provider-aws"
_ROOT: Final = "resource.kubernetes.io/pcieRoot"
_OPTIONS: Final = {"gpu": ("nvidia", {"version": "0.5.0"}), "efa": ("dranet", {})}
_ENTRY: Final = re.compile(r'^\t"([^"]+)": \{\n(.*?)^\t\},', re.MULTILINE | re.DOTALL)
_DEVICE: Final = re.compile(r"^\t\t\t\{$", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(r'"([^"]+)":\s+\{\w+Value: \w+\("?(.*?)"?\)\}')
_CAPACITY: Final = re.compile(r'"([^"]+)": \{Value: resource\.MustParse\("([^"]+)"\)')


class TableDevice(Struct, frozen=True):
    """A device of Karpenter's table."""

    attributes: Mapping[str, str]
    capacity: Mapping[str, str]


class Difference(Struct, frozen=True, order=True):
    """A value that differs on devices of a machine type."""

    machine: str
    name: str
    predicted: str
    karpenter: str


def main() -> int:
    """Print the differences. Return 1 if one of them isn't in our table about Karpenter."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", default="v1.15.1", help="default: %(default)s")
    archive = _download(parser.parse_args().version)
    known = {
        (row["machine"], "memory", row["memory_mib"]) for row in read_table("karpenter_memory")
    }
    unexplained = 0
    for kind in _OPTIONS:
        table = read_devices(_source(archive, kind))
        found = sorted(
            {each for name, devices in table.items() for each in _compare(kind, name, devices)}
        )
        print(f"{kind}: {len(table)} instance types, {len(found)} differences")
        for each in found:
            is_known = (each.machine, each.name, _mebibytes(each.karpenter)) in known
            unexplained += not is_known
            mark = "" if is_known else "UNEXPLAINED "
            print(
                f"  {mark}{each.machine} {each.name}: {each.predicted}, Karpenter {each.karpenter}"
            )
        if not table:
            print(f"the {kind} table of this version can't be read", file=sys.stderr)
            unexplained += 1
    return int(bool(unexplained))


def read_devices(text: str) -> dict[str, list[TableDevice]]:
    """Return the devices of each instance type in a generated Go table."""
    return {
        name: [
            TableDevice(dict(_ATTRIBUTE.findall(part)), dict(_CAPACITY.findall(part)))
            for part in _DEVICE.split(body)[1:]
        ]
        for name, body in _ENTRY.findall(text)
    }


def _compare(kind: str, name: str, theirs: Sequence[TableDevice]) -> Iterator[Difference]:
    member, settings = _OPTIONS[kind]
    found = driver(member)
    node = DriverNode(
        machine=machine("eks", name), name="n", features=features_of(MAXIMUM_MINOR), mig="none"
    )
    slices = found.slices(found.options.model_validate(settings), node)
    ours = [device for each in slices for device in each.devices]
    if len(ours) != len(theirs):
        yield Difference(name, "devices", str(len(ours)), str(len(theirs)))
        return
    for mine, other in zip(ours, theirs, strict=True):
        yield from _values(name, mine, other)
    roots = [str(each.attributes.get(_ROOT)) for each in ours]
    their_roots = [each.attributes.get(_ROOT, "") for each in theirs]
    if _groups(roots) != _groups(their_roots):
        yield Difference(name, _ROOT, " ".join(roots), " ".join(their_roots))


def _values(name: str, mine: Device, other: TableDevice) -> Iterator[Difference]:
    for key, value in other.attributes.items():
        predicted = mine.attributes.get(key)
        if key != _ROOT and _text(predicted) != value:
            yield Difference(name, key, _text(predicted), value)
    for key, value in other.capacity.items():
        capacity = mine.capacity.get(key)
        if capacity is None or capacity.value != Quantity.parse(value):
            yield Difference(name, key, str(capacity and capacity.value), value)


def _text(value: AttributeValue | None) -> str:
    """Return a value as the Go table writes it."""
    if isinstance(value, Unknown):
        return "unknown"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _groups(values: Sequence[str]) -> list[int]:
    """For each device, return the index of the first device with the same value."""
    return [values.index(value) for value in values]


def _mebibytes(text: str) -> str:
    return str(Quantity.parse(text).value >> 20) if re.fullmatch(r"\d+[MG]i", text) else ""


def _download(version: str) -> str:
    """Return the path of the module's archive. Raises SystemExit if it can't be downloaded."""
    command = [str(find_go((1, 24, 0))), "mod", "download", "-json", f"{_MODULE}@{version}"]
    environment = go_environment(os.environ)
    done = subprocess.run(
        command, env=environment, cwd="/", capture_output=True, text=True, check=False
    )
    # The command reports an error for a module that needs a newer Go, but it downloads the archive.
    answer = json.loads(done.stdout or "{}")
    if "Zip" not in answer:
        raise SystemExit(f"{_MODULE}@{version}: {answer.get('Error') or done.stderr.strip()}")
    return str(answer["Zip"])


def _source(archive: str, kind: str) -> str:
    inside = f"/pkg/providers/drametadata/zz_generated_{kind}_metadata.go"
    with zipfile.ZipFile(archive) as files:
        (name,) = [each for each in files.namelist() if each.endswith(inside)]
        return files.read(name).decode()


if __name__ == "__main__":
    sys.exit(main())
