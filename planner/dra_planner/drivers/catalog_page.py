"""The catalog as a page: `python -m dra_planner.drivers.catalog_page > docs/catalog.md`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.catalog.tables import Row, read_table
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import Gpu, MigProfile
from dra_planner.releases import (
    CHANGES,
    GATES,
    PREVIEWS,
    RELEASES,
    Features,
    Gate,
    preview_note,
)

_INTRODUCTION = """\
# Catalog

`make docs` generates this page from the tables in `planner/dra_planner/data/`. To change the page,
change the tables. An empty cell means that no source exists for the fact. If a verdict depends on an
unknown fact, the verdict is *cannot tell*. Each row states its source and confidence. `pulumi-dra
catalog` prints and filters the rows, including prices. `planner/dra_planner/releases/table.py`
contains the differences between Kubernetes versions.
"""


def render_page() -> str:
    """Return the whole page as Markdown, ending in a newline.

    The same tables always give the same text.
    """
    sections = [
        [_INTRODUCTION.rstrip()],
        _gpus(),
        _profiles(),
        _drivers(),
        _gates(),
        _changes(),
        _vocabulary(),
        *(_machines(row) for row in read_table("clouds")),
        _sources(),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _gpus() -> list[str]:
    def cells(gpu: Gpu) -> tuple[object, ...]:
        mig = "yes" if gpu.mig_capable else ""
        capability = gpu.cuda_compute_capability
        memory = f"{gpu.memory_mib} Mi" if gpu.memory_mib else None
        names = (gpu.product_name, gpu.brand, gpu.architecture)
        return (
            f"`{gpu.id}`",
            *names,
            capability,
            memory,
            mig,
            gpu.provenance.confidence,
        )

    header = (
        "id",
        "product name",
        "brand",
        "architecture",
        "capability",
        "memory",
        "MIG",
        "confidence",
    )
    notes = [f"- `{gpu.id}`: {gpu.provenance.note}" for gpu in nvidia.gpus() if gpu.provenance.note]
    table = _table(header, (cells(gpu) for gpu in nvidia.gpus()))
    return ["## GPUs", "", *table, "", "Notes:", "", *notes]


def _profiles() -> list[str]:
    def cells(profile: MigProfile) -> tuple[object, ...]:
        starts = ", ".join(str(start) for start in profile.starts)
        engines = (
            profile.multiprocessors,
            profile.copy_engines,
            profile.decoders,
            profile.encoders,
        )
        rest = (profile.jpeg_engines, profile.ofa_engines)
        memory = f"{profile.memory_mib} Mi" if profile.memory_mib else None
        placement = (profile.max_instances, profile.size, starts, profile.gi_profile_id)
        return (profile.name, memory, *engines, *rest, *placement, profile.provenance.confidence)

    header = (
        "profile",
        "memory",
        "SMs",
        "copy",
        "decode",
        "encode",
        "JPEG",
        "OFA",
        "at most",
        "slices",
        "starts",
        "GI id",
        "confidence",
    )
    lines = [
        "## MIG profiles",
        "",
        "For each GPU, this section lists the MIG configurations that a pool's `mig` key supports, "
        "and the MIG profiles.",
    ]
    for gpu in nvidia.gpus():
        if gpu.mig_table == gpu.id:
            layouts = ", ".join(f"`{layout}`" for layout in nvidia.mig_layouts(gpu))
            same = [
                other.id
                for other in nvidia.gpus()
                if other.mig_table == gpu.id and other.id != gpu.id
            ]
            title = f"### {gpu.product_name or gpu.id}" + (
                f" (and `{'`, `'.join(same)}`)" if same else ""
            )
            rows = (cells(profile) for profile in nvidia.mig_profiles(gpu.id))
            lines += ["", title, "", layouts, "", *_table(header, rows)]
    return lines


def _drivers() -> list[str]:
    header = (
        "version",
        "released",
        "chart",
        "from",
        "classes",
        "feature gates (on by default in bold)",
        "cannot be used because",
    )
    rows = (
        (
            release.version,
            release.released,
            release.chart,
            release.repository,
            ", ".join(release.device_classes),
            ", ".join(f"**{gate}**" if on else gate for gate, on in release.feature_gates.items()),
            release.fault,
        )
        for release in nvidia.driver_releases()
    )
    plugins = ", ".join(release.version for release in nvidia.device_plugin_releases())
    return [
        "## NVIDIA DRA driver",
        "",
        "Oldest first: 0.4 follows 25.12.",
        "",
        *_table(header, rows),
        "",
        f"Device plugin versions: {plugins}.",
    ]


def _gates() -> list[str]:
    def state(field: str, gate: Gate, release: Features) -> str:
        if not gate.is_known(release.minor):
            return ""
        locked = ", locked" if gate.is_locked(release.minor) else ""
        return ("on" if getattr(release, field) else "off") + locked

    rows = (
        (f"`{gate.name}`", *(state(field, gate, release) for release in RELEASES.values()))
        for field, gate in sorted(GATES.items(), key=lambda item: item[1].name)
    )
    return [
        "## Feature gates of Kubernetes versions",
        "",
        "The table shows each version's defaults. A cell is empty if the version doesn't have the "
        "feature gate.",
        "",
        *_table(
            (
                "gate",
                *(f"{release.version}.{release.latest_patch}" for release in RELEASES.values()),
            ),
            rows,
        ),
        "",
        *(f"{preview_note(minor)}." for minor in PREVIEWS),
    ]


def _changes() -> list[str]:
    def shown(value: object) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        listed = sorted(value) if isinstance(value, frozenset) else value
        if isinstance(listed, list | tuple):
            return ", ".join(listed) or "none"
        return "no limit" if value is None else str(value)

    rows = (
        (change.meaning, *(shown(getattr(release, field)) for release in RELEASES.values()))
        for field, change in CHANGES.items()
    )
    return [
        "## Other differences between Kubernetes versions",
        "",
        *_table(("what", *(release.version for release in RELEASES.values())), rows),
    ]


def _vocabulary() -> list[str]:
    releases = [release for release in nvidia.driver_releases() if release.is_installable]
    names: dict[tuple[str, str, str], set[str]] = {}
    for release in releases:
        for attribute in release.attributes:
            key = (attribute.device, attribute.qualified_name, attribute.type)
            names.setdefault(key, set()).add(release.version)
    header = ("device", "attribute", "type", *(release.version for release in releases))
    rows = (
        (
            device,
            f"`{name}`",
            kind,
            *("yes" if release.version in versions else "" for release in releases),
        )
        for (device, name, kind), versions in names.items()
    )
    return ["## Attributes that the driver publishes", "", *_table(header, rows)]


def _machines(row: Row) -> list[str]:
    machines = catalog.machines(row["cloud"])

    def cells(machine: Machine) -> tuple[object, ...]:
        accelerator = machine.accelerator
        count = accelerator.count if accelerator else None
        share = f" ({accelerator.fraction} of one)" if accelerator and accelerator.fraction else ""
        model = f"{accelerator.model}{share}" if accelerator else ""
        memory = f"{machine.memory_mib / 1024:g} Gi" if machine.memory_mib else None
        roots = Counter(place.pcie_root for place in catalog.gpu_places(machine) if place.pcie_root)
        interfaces = len(catalog.network_interfaces(machine)) or None
        region = str(len(machine.regions)) if machine.is_offered else "not offered"
        facts = (
            machine.arch,
            machine.vcpus,
            memory,
            count,
            model,
            len(roots) or None,
            interfaces,
            region,
        )
        return (f"`{machine.name}`", *facts, machine.provenance.confidence)

    header = (
        "machine",
        "arch",
        "vCPU",
        "memory",
        "accelerators",
        "model",
        "PCIe roots",
        "interfaces",
        "regions",
        "confidence",
    )
    lines = [f"## {row['heading']}", "", *_table(header, (cells(machine) for machine in machines))]
    return [*lines, "", row["machines_note"]] if row["machines_note"] else lines


def _sources() -> list[str]:
    rows = (
        (f"`{source.key}`", source.what, source.ref, source.as_of, source.licence)
        for source in catalog.sources().values()
    )
    return ["## Sources", "", *_table(("key", "what", "state", "date", "licence"), rows)]


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'|'.join('---' for _ in header)}|"
    for row in rows:
        yield f"| {' | '.join('' if cell is None else str(cell).replace('|', chr(92) + '|') for cell in row)} |"


if __name__ == "__main__":
    sys.stdout.write(render_page())
