"""Read validation rules of custom resource definitions: expressions of a few forms, restated as
rows of the table `api_constraints`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Restated = tuple[str, str, str]  # suffix of the path, kind of the row, and value

_HAS = r"has\((?:self|x)\.(\w+)\)"
_MEMBERS = re.compile(_HAS)
_TEXTS = re.compile(r"['\"]([^'\"]+)['\"]")


def restated(rule: str) -> Iterator[Restated] | None:
    """Return the rows of a rule, or None if its form is unknown."""
    text = re.sub(r"\s+", " ", rule).strip()
    for form, read in _FORMS.items():
        if found := re.fullmatch(form, text):
            return iter(read(found))
    return None


def _names(text: str) -> str:
    return "|".join(dict.fromkeys(_MEMBERS.findall(text)))


def _listed(text: str) -> str:
    return "|".join(dict.fromkeys(each for each in _TEXTS.findall(text) if each not in ("/", "@")))


def _tests(text: str) -> str:
    """Return comparisons that are joined by "&&" as conditions of a row."""
    found = re.findall(r"(?:self|x)\.(\w+) == '?([^'&]+?)'?(?: &&|$)", text)
    return " and ".join(f"{name}={value.strip()}" for name, value in found)


def _domain(found: re.Match[str], place: str, kind: str) -> list[Restated]:
    return [(place, kind, f"{found['domain']}: {_listed(found['known'])}")]


def _escaped(text: str) -> str:
    return text.replace("\\\\", "\\")


_DOMAIN = r"\[(?P<known>.*?)\] \|\| !(?:x|self)\.find\(\"\^\(\[\^/\]\+\)\"\)\.endsWith\(\"(?P<domain>[\w.]+)\"\)"
_OTHERS = r"\(?(has\((?:x|self)\.\w+\)(?: \|\| has\((?:x|self)\.\w+\))*)\)?"
_FORMS: Mapping[str, Callable[[re.Match[str]], list[Restated]]] = {
    # exactly one of two members
    rf"\({_HAS} && !{_HAS}\) \|\| \(!{_HAS} && {_HAS}\)": lambda found: [
        ("", "one of", _names(found[0]))
    ],
    r"(?:\(has\(self\.\w+\) \? 1 : 0\)(?: \+ )?)+ == 1": lambda found: [
        ("", "one of", _names(found[0]))
    ],
    # at least one member
    rf"{_HAS}(?: \|\| {_HAS})+": lambda found: [("", "at least one", _names(found[0]))],
    rf"self\.all\(x, {_HAS}(?: \|\| {_HAS})+\)": lambda found: [
        ("[]", "at least one", _names(found[0]))
    ],
    # members that exclude each other
    rf"!\({_HAS} && {_HAS}\)|!{_HAS} \|\| !{_HAS}": lambda found: [
        ("", "at most one", _names(found[0]))
    ],
    rf"!self\.exists\(x, {_HAS} && {_OTHERS}\)": lambda found: [
        ("[]", "excludes", _names(found[0]))
    ],
    # upstream rejects a list only if this applies to all its items
    rf"!self\.all\(x, {_HAS} && {_OTHERS}\)": lambda found: [
        ("[]", "all exclude", _names(found[0]))
    ],
    # a member that needs others
    rf"!{_HAS} \|\| \({_HAS} && self\.\w+ != ''\)|!{_HAS} \|\| {_HAS}": lambda found: [
        ("", "needs", _names(found[0]))
    ],
    rf"!{_HAS}(?: \|\| {_HAS})+": lambda found: [("", "needs any", _names(found[0]))],
    rf"!\({_HAS}(?: \|\| {_HAS})+\) \|\| {_HAS}": lambda found: [
        ("", "needs", f"{name}|{_MEMBERS.findall(found[0])[-1]}")
        for name in _MEMBERS.findall(found[0])[:-1]
    ],
    rf"self\.all\(x, {_HAS} == {_HAS}\)": lambda found: [
        ("[]", "needs", f"{found[1]}|{found[2]}"),
        ("[]", "needs", f"{found[2]}|{found[1]}"),
    ],
    # order of two numbers
    r"has\(self\.(\w+)\) && has\(self\.(\w+)\) \? ?self\.(\w+) > self\.(\w+) ?: true": lambda f: [
        ("", "above", f"{f[3]}|{f[4]}")
    ],
    r"has\(self\.(\w+)\) && has\(self\.(\w+)\) \? ?self\.(\w+) <= self\.(\w+) ?: true": lambda f: [
        ("", "not below", f"{f[4]}|{f[3]}")
    ],
    # a value that needs one of several values of another member
    r"!has\(self\.(\w+)\) \|\| self\.(\w+) in \[(.*)\]": lambda found: [
        ("", "only with", f"{found[1]}|{found[2]}={_listed(found[3])}")
    ],
    r"!has\(self\.(\w+)\) \|\| self\.(\w+) == '(\w+)'": lambda found: [
        ("", "only with", f"{found[1]}|{found[2]}={found[3]}")
    ],
    # keys of a mapping, and texts
    r"self\.all\([kx], [kx] ?!= ?['\"]([^'\"]+)['\"]\)": lambda found: [
        ("", "other keys", f"^{re.escape(found[1])}$")
    ],
    r"self\.all\(k, !k\.startsWith\('(.*)'\) ?\)": lambda found: [
        ("", "other keys", f"^{re.escape(found[1])}")
    ],
    r"self\.all\(x, !\(x in \[(.*)\]\)\)": lambda found: [
        ("", "other keys", f"^({_listed(found[1])})$")
    ],
    r"self\.all\(x, x in \[([^\]]*)\]\)": lambda found: [("", "keys", _listed(found[1]))],
    r"self\.all\(x, (?:x==['\"][\w-]+['\"](?: \|\| )?)+\)": lambda found: [
        ("", "keys", _listed(found[0]))
    ],
    rf"self\.all\(x, x in {_DOMAIN}\)": lambda found: _domain(found, "", "keys of domain"),
    rf"self in {_DOMAIN}": lambda found: _domain(found, "", "domain"),
    r"self != ['\"]([^'\"]+)['\"]": lambda found: [("", "other", f"^{re.escape(found[1])}$")],
    r"self != ''": lambda _: [("", "pattern", ".")],
    r"self\.matches\('([^']*)'\)": lambda found: [("", "pattern", _escaped(found[1]))],
    r"self\.all\(x, self\[x\]\.matches\('([^']*)'\)\)": lambda found: [
        ("{}", "pattern", _escaped(found[1]))
    ],
    r"self >= (\d+)": lambda found: [("", "range", f"{found[1]} to")],
    r"self\.size\(\) != 0": lambda _: [("", "count", "1 to")],
    r"self\.all\(k, k != ''\)": lambda _: [("", "other keys", "^$")],
    r"self\.all\(k, k != '' && self\[k\] != ''\)": lambda _: [
        ("", "other keys", "^$"),
        ("{}", "pattern", "."),
    ],
    r"self\.all\(k, !k\.matches\('(.*)'\)\)": lambda found: [("", "other keys", found[1])],
    r"self\.all\(k, !k\.contains\('(.*)'\)\)": lambda found: [("", "other keys", found[1])],
    r"self\.all\(k, size\(self\[k\]\) <= (\d+)\)": lambda found: [
        ("{}", "length", f"to {found[1]}")
    ],
    r"self\.all\(k, size\(k\) <= (\d+)\)": lambda found: [
        ("", "other keys", f"^.{{{int(found[1]) + 1},}}$")
    ],
    r"self\.all\(x, !self\[x\]\.startsWith\('-'\)\)": lambda _: [("{}", "pattern", "^[^-]")],
    r"(?:!\('[\w-]+' in self\)(?: && )?)+": lambda found: [
        ("", "other keys", f"^({_listed(found[0])})$")
    ],
    # a text of the form FAMILY@VERSION
    r"self\.(?:split\('@'\)\[0\]|find\('\^\[\^@\]\+'\)) in \[(.*)\]": lambda found: [
        ("", "pattern", f"^({_listed(found[1])})@")
    ],
    r"self\.split\('@'\)\[0\] in \[(.*)\] \? self\.split\('@'\)\[1\] == '(\w+)' : true": lambda found: [
        ("", "pattern", f"^(?!({_listed(found[1])})@(?!{found[2]}$))")
    ],
    r"!self\.startsWith\('(.*)'\) \|\| self\.matches\('\^(.*)'\)": lambda found: [
        ("", "pattern", f"^(?!{found[1]})|^{found[2]}")
    ],
    # combinations of values
    r"!\((self\.\w+ == '.+' && self\.\w+ == '.+')\)": lambda found: [
        ("", "never", _tests(found[1]))
    ],
    r"!\(self\.(\w+)\.endsWith\('(.*)'\) && self\.(\w+) == '(.*)'\)": lambda found: [
        ("", "never", f"{found[1]}~{re.escape(found[2])}$ and {found[3]}={found[4]}")
    ],
    r"!self\.exists\(x, (x\.\w+ == '.+' && x\.\w+ == '.+')\)": lambda found: [
        ("[]", "never", _tests(found[1]))
    ],
    r"self\.size\(\) == 0 \|\| self\.exists\(x, (.*)\)": lambda found: [
        ("", "some item", _tests(found[1]))
    ],
    r"\[(.*)\]\.all\(z, self\.exists\(x, x\.(\w+) == z\)\)": lambda found: [
        ("", "some item", f"{found[2]}={each}") for each in _TEXTS.findall(found[1])
    ],
    r"!\(self\.exists\(x, has\(x\.(\w+)\)\) && self\.size\(\) != 1\)": lambda found: [
        ("", "only item", found[1])
    ],
    r"self\.filter\(x, has\(x\.(\w+)\)\?x\.\w+==true:false\)\.size\(\) <= 1": lambda found: [
        ("", "one item", f"{found[1]}=true")
    ],
    r"self\.all\(x, x\.operator == '(\w+)' \? x\.values\.size\(\) != 0 : true\)": lambda found: [
        ("[]", "never", f"operator={found[1]} and values#=0")
    ],
    r"self\.all\(x, \((x\.operator == .*)\) \? \(x\.values\.size\(\) == 1 && int\(.*\) >= 0\) : true\)": lambda found: [
        ("[]", "never", f"operator={_listed(found[1])} and values#!=1"),
        ("[]", "never", f"operator={_listed(found[1])} and values!~^[0-9]+$"),
    ],
    r"self\.all\(x, \(x\.operator == 'In' && has\(x\.minValues\)\) \? .*\)": lambda _: [
        ("[]", "never", "operator=In and values#<minValues")
    ],
}


def rules_of(schema: Mapping[str, Any]) -> list[str]:
    """Return the rules of a part of a schema. Rules about updates are omitted."""
    found = [each["rule"] for each in schema.get("x-kubernetes-validations", ())]
    return [each for each in found if "oldSelf" not in each]
