"""Habits of English that make readers read a sentence twice, as patterns over the sentences of a
page.

A hit of an error is a fault. A suggestion is right in many sentences, so only its share is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct


class Habit(Struct, frozen=True):
    """A pattern, what to write instead, and a sentence that shows it. `in_headings`: also applied
    to headings.
    """

    name: str
    instead: str
    shown_by: str
    pattern: re.Pattern[str]
    is_error: bool = True
    in_headings: bool = True


def habit(
    name: str,
    instead: str,
    shown_by: str,
    *patterns: str,
    error: bool = True,
    headings: bool = True,
) -> Habit:
    return Habit(name, instead, shown_by, re.compile("|".join(patterns)), error, headings)


HABITS = (
    habit(
        "is told",
        "name the program that prints, reports, or sets it",
        "Each change is told.",
        r"\b(?:is|are|was|were|be|been|gets?) (?:told|said)\b",
    ),
    habit(
        "that is none",
        "say what is invalid or missing",
        "A version that is none fails.",
        r"\b(?:that|which|what|and|it|input) (?:is|are|was|were) (?:none\b|no "
        r"(?!longer|more|less|different)[a-z]+)",
        r"[,;] none\b(?!,)|(?<!Default): none\b(?![.,:])(?!$)",
        r"\bwhere (?:there )?(?:is|are) none\b",
    ),
    habit(
        "of one's own",
        "its own X, custom, dedicated",
        "Use keys of your own.",
        r"\bof (?:one's|ones|its|their|your|our) own\b(?! [A-Za-z])",
    ),
    habit(
        "alone", "only", "These rules alone are run.", r"(?<!stand )(?<!left )(?<!leave )\balone\b"
    ),
    habit(
        "beside",
        "in addition to, with, next to",
        "Classes beside those of the driver.",
        r"\b[Bb]esides?\b",
    ),
    habit(
        "no as an object",
        "negate the verb, or write only or no longer",
        "The pool has not room.",
        r"\b(?:has|have|had) not(?:[,.;]| (?:room|it|them)\b)",
        r"\b(?:has|have) no more\b",
        r"\bno more\b(?! than)",
        r"\b(?:add|bring|carrie|count|create|decode|find|get|hold|install|know|make|move|name|"
        r"read|start|take)s? no \w+",
        r"\bfits? no (?!machine|node|pool|X)\w+",
        r"\bneeds? no (?!cluster|cloud)\w+",
    ),
    habit(
        "stands, goes, lets in",
        "is, appears, continues, admits",
        "The upgrade stands still.",
        r"\b(?:stands?|stood)\b(?! for\b)",
        r"\bgoes? (?:away|before|first|last|on|with)\b",
        r"\b(?:cluster|driver|group|it|key|node|pod|pool|release) goes\b",
        r"\b(?:is|are|has) gone\b",
        r"\blets? (?:\w+ ){0,4}in\b(?! (?:the|a|place|order)\b)",
    ),
    habit(
        "is of",
        "has, uses, belongs to",
        "The nodes are of one kind.",
        r"\b(?:is|are|was|were) of (?!use\b|interest\b)",
    ),
    habit(
        "that of",
        "repeat the noun",
        "The price is that of the fleet.",
        r"\b(?:as|beside|are|from|is|than) (?:that|those) of\b",
        r"\bthose (?:that|which)\b",
        r"\bas (?:the \w+|it|they) (?:has|have|says?) it\b",
        r"\bthat (?:the|its) (?:cloud|cluster|machine|region) has\b",
        r"\bthat (?:it|they) (?:has|have)(?: there)?[.,;]",
    ),
    habit(
        "what as a noun",
        "name the thing",
        "What tenants made is theirs.",
        r"^(?:What|Who|Whoever|Whatever|Whom|Whose) (?!if\b|next\b|happens\b)[^?]*$",
        r"[,;] what (?:is|are|was|has|a|the|it|they|one)\b",
        headings=False,
    ),
    habit(
        "and says",
        "start a sentence with its own subject",
        "It stops, and says why.",
        r", (?:and|which|so) (?:says?|tells?)\b|, (?:and|which) names\b",
        r"\bsays of\b",
    ),
    habit(
        "old words",
        "a word of today; the number first",
        "It needs two nodes more.",
        r"\banew\b",
        r"\bmade again\b",
        r"(?:^|[,;:(] )else\b",
        r"\b(?:nodes|pods) more\b",
        r"\b(?:a|one|two|three|many) (?:GPU|machine|minor|node|pod|thing)s? more\b",
        r"\bdear(?:er|est)?\b",
        r"\bfor ever\b",
        r"\b(?:will|would) do\b(?! so| the| it|-)",
        r"\bg[ia]ves? way\b",
        r"\bso many\b(?! \w+ that)",
        r"\bwhom\b",
        r"\bbut for\b",
        r"\bjudg(?:e|es|ed|ing)\b",
    ),
    habit(
        "home-made term",
        "the term of Kubernetes, NVIDIA, or Pulumi",
        "Seven orders of arrival were tried.",
        r"\border(?:s)? of arrival\b",
        r"\bmessages? of the field\b",
        r"\bclusters? over\b",
        r"\btaken over\b",
        r"\blayouts?\b",
        r"\bKubernetes releases?\b",
        r"(?<!start )(?<!starts )\b(?:clusters|nodes|pools) for claims\b",
        r"\b(?:a|the|one|two|next|new|each|of|cluster's|fleet's) minors?\b(?! version)",
        r"\breleases? of (?:the )?(?:NVIDIA |DRA )*(?:driver|Kubernetes)\b",
    ),
    habit(
        "where for if",
        "if, when",
        "Where it fits, nodes are added.",
        r"\b[Ww]here (?:it|its|that|they|there|no|nothing|one|some|all|not|the|an?|pods?|nodes?) ",
        error=False,
        headings=False,
    ),
    habit(
        "says",
        "sets, prints, reports",
        "The fleet says how many.",
        r"\b(?<!cannot )(?:says?|tells?|said)\b",
        error=False,
    ),
    habit(
        "takes",
        "accepts, needs, uses, removes",
        "The option takes a file.",
        r"\b(?:takes?|took|taken)\b(?! (?:effect|precedence|place|care|longer|less|up to|about)| "
        r"?[\d.]+ )",
        error=False,
    ),
    habit(
        "makes",
        "creates, builds",
        "It makes a cluster.",
        r"\b(?:makes?|made)\b(?! sure| sense)",
        error=False,
    ),
    habit(
        "nobody",
        "say what happens",
        "Nobody reads it.",
        r"\b(?:[Nn]obody|[Nn]o one|[Nn]othing|[Nn]either|nor)\b",
        error=False,
    ),
    habit(
        "hidden actor",
        "name who does it",
        "Such keys are refused.",
        r"\b(?:is|are|be|was|were) "
        r"(?:answered|asked|counted|given|kept|made|named|refused|taken|wanted)\b",
        error=False,
    ),
)


class Sentence(Struct, frozen=True):
    """A sentence of a page, with its line."""

    line: int
    text: str
    is_heading: bool = False


_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
_MARK = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
_END = re.compile(r"(?<=[.!?])\s+")


def sentences(markdown: str) -> list[Sentence]:
    """Return the sentences of a page without code blocks. Code spans and quoted text become X.
    Wrapped lines are joined, so that a sentence is complete.
    """
    found: list[Sentence] = []
    for number, text, is_heading in _blocks(markdown):
        cells = text.split("|") if text.startswith("|") else [text]
        found += [
            Sentence(number, _QUOTED.sub("X", each), is_heading)
            for cell in cells
            for each in ([cell] if is_heading else _END.split(_MARK.sub("", cell).strip()))
        ]
    return [each for each in found if len(re.findall(r"[A-Za-z]{2,}", each.text)) > 1]


def _blocks(markdown: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the headings, table rows, list items, and paragraphs, each with its first line."""
    begin, lines, is_code = 0, list[str](), False
    for number, line in enumerate([*markdown.splitlines(), ""], 1):
        text = line.strip()
        is_fence = text.startswith("```")
        is_block = text.startswith(("#", "|", "<")) or not text or is_fence or is_code
        is_indented = line.startswith("    ") and not lines
        if lines and (is_block or _MARK.match(line)):
            yield begin, " ".join(lines), False
            lines = []
        is_code ^= is_fence
        if is_code or is_fence or not text or is_indented:
            continue
        if text.startswith(("#", "|", "<")):
            yield number, text.lstrip("# "), text.startswith("#")
        else:
            begin = begin if lines else number
            lines.append(text)


def habits_of(sentence: Sentence) -> list[Habit]:
    """Return the habits that a sentence shows."""
    return [
        each
        for each in HABITS
        if (each.in_headings or not sentence.is_heading) and each.pattern.search(sentence.text)
    ]
