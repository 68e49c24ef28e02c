"""Error messages from Kubernetes, drivers, and clouds: recognized in longer texts, each with its
cause and a next step that exists.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from dra_planner.catalog.messages import Message, commands, messages, recognize
from dra_planner.catalog.messages_page import render_page

UPSTREAM = Path(__file__).parent / "upstream_messages.yaml"
PAGE = Path(__file__).parents[3] / "docs" / "messages.md"
LONG = (
    "Warning  FailedScheduling  3s  default-scheduler  0/12 nodes are available: 3 node(s) had "
    "untolerated\n"
    "    taint(s), 9 cannot allocate all claims. still not schedulable, preemption: 0/12 nodes are "
    "available: "
    "12 Preemption is not helpful for scheduling."
)


def ids(text: str) -> list[str]:
    return [each.message.id for each in recognize(text)]


@pytest.mark.parametrize("message", messages(), ids=lambda each: each.id)
def test_example_of_a_message_is_recognized(message: Message) -> None:
    assert message.id in ids(message.example)
    assert message.id in ids(f"Events:\n  12s\t{message.example.replace(' ', '  ')} (x3 over 5m)")


def test_upstream_messages_are_recognized_by_their_id() -> None:
    """The record is made by conformance/messages/upstream.py of the sources of 1.34 to 1.37."""
    record = yaml.safe_load(UPSTREAM.read_text(encoding="utf-8"))
    known = {message.id: message for message in messages()}
    recorded = {key: texts for key, texts in record.items() if " " not in key}
    assert len(recorded) >= 40
    assert set(recorded) <= set(known)
    missed = [
        text
        for key, texts in recorded.items()
        for text in texts
        if not known[key].pattern.search(filled(text))
    ]
    assert missed == []
    others = [text for key, texts in record.items() if " " in key for text in texts]
    assert [
        text for text in others if any(each.pattern.search(filled(text)) for each in messages())
    ] == []


def filled(text: str) -> str:
    values = {"d": "32", "q": '"x"'}
    return re.sub(r"%[-+#0-9.]*[a-zA-Z]", lambda verb: values.get(verb[0][-1], "x"), text)


def test_every_part_of_a_scheduler_message_is_recognized_with_its_nodes() -> None:
    assert [(each.message.id, each.nodes) for each in recognize(LONG)] == [
        ("taint", 3),
        ("no-fit", 9),
    ]


def test_typographic_and_escaped_quotes_do_not_matter() -> None:
    assert ids("no matches for kind “ResourceClass” in version “resource.k8s.io/v1alpha2”") == [
        "classic-kind"
    ]
    escaped = '"no matches for kind \\"ResourceClass\\" in version \\"resource.k8s.io/v1alpha2\\""'
    assert ids(escaped) == ["classic-kind"]


@pytest.mark.parametrize(
    "text", ["", "OOMKilled", "Back-off restarting failed container", "0/3 nodes are available."]
)
def test_unrelated_text_is_not_recognized(text: str) -> None:
    assert recognize(text) == ()


def test_ids_are_unique_and_messages_do_not_overlap() -> None:
    assert len({message.id for message in messages()}) == len(messages()) >= 60
    first = {message.example: ids(message.example)[0] for message in messages()}
    assert [example for example, found in first.items() if not found] == []


def test_commands_in_fixes_exist() -> None:
    for message in messages():
        for command in re.findall(r"pulumi-dra (\w+)", message.fix):
            assert command in ("plan", "check", "explain", "catalog"), message.id


def test_every_answer_has_a_command_or_a_reason_for_none() -> None:
    assert [
        each.id for each in messages() if bool(commands(each)) == bool(each.nothing_to_run)
    ] == []
    assert sum(bool(each.nothing_to_run) for each in messages()) == 3


def test_commands_are_in_backticks() -> None:
    bare = re.compile(r"\b(?:pulumi-dra|kubectl|helm) [a-z]")
    assert [each.id for each in messages() if bare.search(re.sub(r"`[^`]*`", "", each.fix))] == []


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_page(), "run: make docs"
