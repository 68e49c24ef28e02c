"""Output of commands on a page, identified by the command above it, or by text that only a cluster
writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from dra_planner.catalog.messages import recognize
from dra_planner.errors import Diagnostic, Place
from dra_planner.wording import noun

_COMMAND: Final = re.compile(
    r"^\s*(?:[$>#]\s+)?(?P<command>(?:sudo\s+)?(?:kubectl|oc|helm|gcloud|az|aws|eksctl|minikube|kind|kubeadm|nvidia-smi)"
    r"(?:\s.*)?)$|^\s*[$>]\s+(?P<other>\S.*)$"
)
_QUERY: Final = re.compile(
    r"\b(?:kubectl|oc)\s(?:.*\s)?(?:get|describe|logs|exec|top|events)\s|nvidia-smi"
)
_PRINTS_OBJECTS: Final = re.compile(r"\sget\s.*(?:-o|--output)[= ]?(?:yaml|json)\b")
_HEREDOC: Final = re.compile(r"<<-?\s*['\"]?(\w+)")
_WRITTEN_BY_SERVER: Final = re.compile(
    r"^\s*(?:uid|resourceVersion|creationTimestamp|managedFields|selfLink):(?!\s*null\s*$)(?:\s*\S|\s*$)",
    re.MULTILINE,
)
_OBJECT: Final = re.compile(r"^\s*[\"']?apiVersion[\"']?\s*:", re.MULTILINE)
_KIND: Final = re.compile(r"^[\s-]*[\"']?kind[\"']?\s*:\s*[\"']?(\w+)", re.MULTILINE)
_TABLE: Final = re.compile(r"^(?:NAMESPACE\s+)?NAME(?:\s{2,}[A-Z][A-Z0-9()-]*)+\s*$", re.MULTILINE)
_SMI: Final = re.compile(r"NVIDIA-SMI \d|^GPU \d+: .*\(UUID: GPU-", re.MULTILINE)
_EVENTS: Final = re.compile(
    r"FailedScheduling|FailedResourceClaimCreation|FailedPrepareDynamicResources"
)


class Shown(Struct, frozen=True):
    """Output of a command: a description, its text, and the number of its first line (from 1)."""

    what: str
    text: str
    line: int


def without_output(lines: Sequence[str], first: int) -> tuple[list[str], list[Shown]]:
    """Return a block without its lines of output, and each piece of output. `first` is the number
    of the block's first line (from 0).

    A manifest is output if it's below a command that prints it, or if it contains fields that the
    API server sets.
    """
    kept, shown = list(lines), list[Shown]()
    command, at = "", 0
    while at < len(lines):
        found = _COMMAND.match(lines[at])
        if found is not None:
            typed = found["command"] or found["other"]
            command = typed if _QUERY.search(typed) else ""
            at = _end_of_command(lines, at)
            continue
        end = next((n for n in range(at, len(lines)) if _COMMAND.match(lines[n])), len(lines))
        text = "\n".join(lines[at:end])
        what = _what(text, command)
        if what:
            shown.append(Shown(what, text, first + at + 1))
            kept[at:end] = [""] * (end - at)
            if _OBJECT.search(text):  # the command above the output isn't YAML
                kept[:at] = ["" if _COMMAND.match(line) else line for line in kept[:at]]
        at, command = end, ""
    return kept, shown


def _end_of_command(lines: Sequence[str], at: int) -> int:
    """Return the line after a command, including its continued lines and its heredoc."""
    while lines[at].rstrip().endswith("\\") and at + 1 < len(lines):
        at += 1
    begin = _HEREDOC.search(lines[at])
    if begin is None:
        return at + 1
    return next(
        (n + 1 for n in range(at + 1, len(lines)) if lines[n].strip() == begin[1]), len(lines)
    )


def _what(text: str, command: str) -> str:
    """Return a description of a part of a block if it's output, and "" otherwise."""
    if _OBJECT.search(text):
        is_printed = bool(_PRINTS_OBJECTS.search(command))
        if not is_printed and not _WRITTEN_BY_SERVER.search(text) and not _is_part_of_slice(text):
            return ""
        return f"output of {command if is_printed else 'kubectl get'}{_kinds(text)}"
    if _SMI.search(text):
        return "output of nvidia-smi"
    if _EVENTS.search(text):
        return "events"
    return f"output of {command or 'kubectl get'}" if _TABLE.search(text) else ""


def _is_part_of_slice(text: str) -> bool:
    """Return whether this is a ResourceSlice without the fields that every slice has, because a
    page shows only a part of it.
    """
    is_slice = {kind for kind in _KIND.findall(text) if kind != "List"} == {"ResourceSlice"}
    return is_slice and not all(
        re.search(rf"^\s*[\"']?{key}[\"']?\s*:", text, re.MULTILINE) for key in ("driver", "pool")
    )


def _kinds(text: str) -> str:
    kinds = [kind for kind in dict.fromkeys(_KIND.findall(text)) if kind != "List"]
    return f" ({', '.join(kinds[:3])})" if kinds else ""


def output_findings(shown: Iterable[Shown], file: str) -> Iterator[Diagnostic]:
    """Yield explanations of the messages in output, and one note for all pieces of output with the
    same fix.
    """
    notes: dict[str, list[Shown]] = {}
    for each in shown:
        place = Place(file, each.line)
        if each.what == "events":
            for found in recognize(each.text):
                explanation = f'"{found.words}" ({found.message.where}): {found.message.cause}'
                yield Diagnostic(
                    "note", "message-of-the-field", explanation, place, found.message.fix
                )
            continue
        notes.setdefault(_fix(each), []).append(each)
    for fix, group in notes.items():
        lines = [str(each.line) for each in group]
        more = (
            f" (also in {noun(len(lines) - 1, 'line')} {', '.join(lines[1:])})" if lines[1:] else ""
        )
        message = f"the {group[0].what} isn't checked, because it isn't a manifest{more}"
        yield Diagnostic("note", "output-not-judged", message, Place(file, group[0].line), fix)


def _fix(shown: Shown) -> str:
    if "ResourceSlice" in shown.what or re.search(r"get\s+(?:\S+\s+)*resourceslices?", shown.what):
        return (
            "to plan on such nodes, save the nodes and slices to a file, and run `pulumi-dra plan "
            "PATH --observed FILE`"
        )
    if "nvidia-smi" in shown.what:
        return (
            "to print the devices that the DRA driver publishes, run `pulumi-dra slices --machine "
            "NAME --driver VERSION`"
        )
    return ""
