"""Read the texts and files in the properties of a resource, before a rule reads the resource."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pulumi import Asset, FileAsset, StringAsset

from dra_policies.unknown_values import UNKNOWN, as_list, as_mapping

_MOST_BYTES: Final = 1_000_000


def with_texts(props: Any, environment: Mapping[str, str]) -> Any:
    """Return properties with `{"text": …}` in place of each asset, and UNKNOWN in place of assets
    that can't be read.

    The engine passes paths as the program wrote them, so they are relative to the folder where
    Pulumi was started (the variable PWD).
    """
    if isinstance(props, StringAsset):
        return {"text": props.text}
    if isinstance(props, FileAsset):
        return _read(Path(environment.get("PWD", "")) / props.path)
    if isinstance(props, Asset):
        return UNKNOWN
    if (mapping := as_mapping(props)) is not None:
        return {key: with_texts(value, environment) for key, value in mapping.items()}
    if (items := as_list(props)) is not None:
        return [with_texts(item, environment) for item in items]
    return props


def _read(path: Path) -> Any:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return UNKNOWN  # a device file might never end
        return {"text": path.read_text(encoding="utf-8")}
    except (OSError, ValueError):
        return UNKNOWN
