"""Files of values, as the engine hands them to the pack."""

from __future__ import annotations

from pathlib import Path

from pulumi import FileAsset, RemoteAsset, StringAsset

from dra_policies.assets import with_texts
from dra_policies.unknown_values import UNKNOWN


def test_assets_are_replaced_by_their_text(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("driver: {enabled: false}", encoding="utf-8")
    files = [FileAsset("values.yaml"), StringAsset("toolkit: {}"), {"path": "kept"}, 1]

    assert with_texts(files, {"PWD": str(tmp_path)}) == [
        {"text": "driver: {enabled: false}"},
        {"text": "toolkit: {}"},
        {"path": "kept"},
        1,
    ]


def test_unreadable_files_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    files = [
        FileAsset("absent.yaml"),
        FileAsset("."),
        FileAsset("binary"),
        FileAsset("/dev/zero"),
        RemoteAsset("https://example.com/values.yaml"),
    ]

    assert with_texts(files, {"PWD": str(tmp_path)}) == [UNKNOWN] * 5
