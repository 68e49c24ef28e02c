"""The digest of the workloads in a saved plan: what makes a plan stale, and what doesn't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_planner.planfile.workloads_digest import digest_documents
from dra_planner.sources import Source


def digest(*texts: str) -> str:
    return digest_documents([Source(f"{number}.yaml", text) for number, text in enumerate(texts)])


def test_digest_ignores_files_order_line_ends_and_blank_lines() -> None:
    expected = digest("a: 1\n---\nb: 2\n")
    assert expected.startswith("sha256:")
    assert len(expected) == 71
    for same in (
        ("b: 2", "a: 1"),
        ("---\n\nb: 2\n\n---\n---\na: 1\n",),
        ("a: 1\r\n--- \r\nb: 2\r\n",),
    ):
        assert digest(*same) == expected


@pytest.mark.parametrize(
    "other",
    [
        "a: 1",
        "a: 1\n---\nb: 3",
        "a: 1\n---\nb: 2\n---\nb: 2",
        "a: 1\n ---\nb: 2",
        "a: 1\n----\nb: 2",
    ],
)
def test_digest_depends_on_every_document(other: str) -> None:
    assert digest(other) != digest("a: 1\n---\nb: 2\n")


@given(st.lists(st.text("ab:\n ", max_size=8), max_size=5), st.randoms())
def test_digest_ignores_order_and_files(parts: list[str], random: object) -> None:
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert digest("\n---\n".join(parts)) == digest(*shuffled)


POD = """\
kind: Pod
spec:
  containers:
    - image: registry.example:5000/team/chat:1.2
      name: chat
    - {name: side, image: "a:1"}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chat:1.2", "chat:1.3"),
        ("chat:1.2", "chat"),
        ("chat:1.2", "chat@sha256:0a1b"),
        ("chat:1.2", "chat:1.3@sha256:0a1b"),
        ("registry.example:5000/team/chat:1.2", "registry.example:5000/team/chat:1.3  # newer"),
        ("kind: Pod", "# who owns it\nkind: Pod"),
        (
            "      name: chat",
            "      # pulumi-dra: ignore image-of-another-architecture\n      name: chat",
        ),
    ],
    ids=["tag", "no tag", "digest", "both", "comment at the end", "comment", "exemption"],
)
def test_digest_ignores_image_versions_and_comments(old: str, new: str) -> None:
    assert old in POD
    assert digest(POD.replace(old, new)) == digest(POD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chat:1.2", "batch:1.2"),
        ("registry.example:5000", "registry.example:6000"),
        ("name: chat", "name: talk"),
        ("name: side", "name: front"),
    ],
    ids=["image", "registry", "name", "flow style"],
)
def test_digest_depends_on_images_and_fields(old: str, new: str) -> None:
    assert digest(POD.replace(old, new)) != digest(POD)


CHAT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
  labels: {app: chat}
spec:
  template:
    spec:
      containers:
        - name: chat
          args: ["--name=a # b"]
          env: [{name: COLOR, value: 'c # d'}]
"""
ONE = 'pulumi-dra/ignore: "spot-without-disruption-budget — tested, and accepted"'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: chat\n  labels", "name: chat  # hello\n  labels"),
        ("spec:\n  template", "spec:  # pulumi-dra: ignore X — accepted\n  template"),
        ("  labels: {app: chat}", "  labels: {app: chat} # one"),
        ("  labels:", f"  annotations:\n    {ONE}\n  labels:"),
        ("  labels: {app: chat}", f"  labels: {{app: chat}}\n  annotations:\n    {ONE}"),
        ("  labels:", f"  annotations: {{{ONE}}}\n  labels:"),
    ],
)
def test_comments_after_values_and_exemptions_are_ignored(old: str, new: str) -> None:
    assert old in CHAT
    assert digest(CHAT.replace(old, new)) == digest(CHAT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a # b", "a # e"),
        ("c # d", "c # e"),
        ("  labels:", "  annotations:\n    team: ml\n  labels:"),
        ("app: chat", "app: chat#2"),
    ],
)
def test_number_signs_in_values_and_other_annotations_are_included(old: str, new: str) -> None:
    assert digest(CHAT.replace(old, new)) != digest(CHAT)


def test_exemption_with_another_annotation_is_ignored() -> None:
    noted = CHAT.replace("  labels:", "  annotations:\n    team: ml\n  labels:")
    exempt = noted.replace("    team: ml\n", f"    team: ml\n    {ONE}\n")
    assert digest(exempt) == digest(noted)
