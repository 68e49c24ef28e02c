"""Malicious selectors by name, each with the expected verdict or kind of rejection.

`tests/bench/bench_cel.py` measures the speed of each.
"""

from __future__ import annotations

from typing import Final

DEVICE: Final = {
    "driver": "gpu.nvidia.com",
    "attributes": {"type": {"string": "gpu"}},
    "capacity": {"memory": "80Gi"},
}
TEN: Final = "[0,1,2,3,4,5,6,7,8,9]"


def nested(depth: int, macro: str = "exists", body: str = "false") -> str:
    """So many loops over ten elements within each other."""
    for level in range(depth):
        body = f"{TEN}.{macro}(v{level}, {body})"
    return body


def bound(first: str, steps: list[str], last: str) -> str:
    """Bindings within each other, each made of the one before, which is written @."""
    text = f"cel.bind(s0, {first}, "
    for number, step in enumerate(steps):
        text += f"cel.bind(s{number + 1}, {step.replace('@', f's{number}')}, "
    return text + last.replace("@", f"s{len(steps)}") + ")" * (len(steps) + 1)


def deep(levels: int) -> str:
    """A condition of as many nodes per level of nesting as there can be."""
    text = "true"
    for _ in range(levels):
        text = f"(false || true && !!![{text}].all(x, x))"
    return text


def listed(element: str, count: int) -> str:
    """A list of the same element again and again."""
    return f"[{','.join([element] * count)}].size() == {count}"


LITERALS: Final = {
    "5 000 numbers": (listed("1", 5000), "match"),
    "3 400 empty lists": (listed("[]", 3400), "match"),
    "2 500 lists of one": (listed("[1]", 2500), "match"),
    "3 400 empty maps": (listed("{}", 3400), "match"),
    "2 500 texts": (listed('"a"', 2500), "match"),
    "2 000 bytes": (listed('b"a"', 2000), "match"),
    "2 500 doubles": (listed("1e9", 2500), "match"),
    "600 absent elements": (f"[{','.join(['?optional.none()'] * 600)}].size() == 0", "match"),
    "a map of 1 200 maps": (
        f"{{{','.join(f'{n}:{{}}' for n in range(1200))}}}.size() == 1200",
        "match",
    ),
    "the same key 2 400 times": (f"{{{','.join(['1:1'] * 2400)}}}.size() == 1", "match"),
    "240 nested lists": ("[" * 240 + "]" * 240 + ".size() == 1", "match"),
    "120 nested maps": ("{1:" * 120 + "1" + "}" * 120 + ".size() == 1", "match"),
    "10 000 characters": (f'"{"x" * 10_000}" == device.driver', "no-match"),
    "one byte too many": (f'"{"x" * 10_300}" == device.driver', "length"),
    "5 200 letters of two bytes": (f'"{"ü" * 5_200}" == device.driver', "length"),
    "1 700 escaped letters": ('"' + "\\u00fc" * 1_600 + '" == device.driver', "no-match"),
    "5 000 escaped newlines": ('"' + "\\n" * 5_000 + '" == device.driver', "no-match"),
    "a number of 5 000 digits": ("1" * 5000 + " == 1", "syntax"),
    "an exponent of 3 000 digits": ("1e" + "9" * 3000 + " == 1.0", "syntax"),
    "an emoji": ('"\U0001f600".size() == 1', "match"),
    "letters that change direction": ('"\u202e\u0000" == device.driver', "no-match"),
    "half a surrogate pair": ("\ud800 == 1", "syntax"),
    "letters in a name": ("ü" * 5000, "syntax"),
    "nothing": ("", "syntax"),
    "a null byte": ("\x00", "syntax"),
    "only a comment": ("// only a comment", "syntax"),
    "3 000 comments": ("//\n" * 3000 + "true", "match"),
    "10 000 quotes": ('"' * 9_999, "syntax"),
    "3 300 wrong escapes": ('"\\q' * 3_300, "syntax"),
}
NESTING: Final = {
    "100 parentheses": ("(" * 100 + "true" + ")" * 100, "match"),
    "249 parentheses": ("(" * 249 + "true" + ")" * 249, "match"),
    "260 parentheses": ("(" * 260 + "true" + ")" * 260, "depth"),
    "5 000 parentheses": ("(" * 5000 + "true" + ")" * 5000, "depth"),
    "10 000 open parentheses": ("(" * 10_000, "syntax"),
    "5 000 open lists": ("[" * 5000, "syntax"),
    "9 000 negations": ("!" * 9000 + "true", "match"),
    "240 negations, with parentheses": ("!(" * 240 + "true" + ")" * 240, "match"),
    "5 001 minus": ("-" * 5001 + "1 == -1", "match"),
    "240 conditionals": ("true ? 1 : " * 240 + "1 == 1", "type"),
    "200 nested conditionals": ("(" * 200 + "true" + " ? true : true)" * 200, "match"),
    "260 conditionals": ("true ? true : " * 260 + "true", "depth"),
    "60 levels of all constructs": (deep(60), "match"),
    "all constructs, twice": (f"optional.of({deep(60)}).optMap(x, x).orValue(false)", "match"),
    "110 levels of all constructs": (f"({deep(110)}).optMap(x, x).hasValue()", "type"),
    "chains of 240 fields": ("||".join(["device" + ".a" * 240] * 20), "type"),
    "chains of 240 indices": ("||".join(["[1]" + "[0]" * 240 + "==1"] * 13), "type"),
    "chains of 240 fields that may be absent": (
        'device.attributes["a"]' + ".?b" * 240 + ".hasValue()",
        "no-match",
    ),
    "chains of 240 sums": ("||".join(["+".join(['"a"'] * 240) + '==""'] * 10), "no-match"),
    "2 000 sums": (" + ".join(["1"] * 2000) + " > 0", "depth"),
    "40 optional maps": ("optional.of(1)" + ".optMap(x, x)" * 40 + ".hasValue()", "depth"),
    "80 nested formats": ('"%s".format([' * 80 + "1" + "])" * 80 + ' == ""', "no-match"),
    "lists 5 000 deep, as types": (
        bound("[1]", ["[" * 60 + "@" + "]" * 60] * 60, "@.size() == 1"),
        "depth",
    ),
    "lists 500 deep, as values": (
        bound("dyn([1])", ["[" * 6 + "dyn(@)" + "]" * 6] * 90, "@ == @"),
        "match",
    ),
    "maps of 2^40 parts, compared": (bound("{1: 1}", ["{1: @, 2: @}"] * 40, "@ == @"), "error"),
}
CHAINS: Final = {
    "1 700 conditions": ("&&".join(["true"] * 1700), "match"),
    "1 700 alternatives": ("||".join(["false"] * 1400), "no-match"),
    "1 700 comparisons": ("&&".join(["1==1"] * 1700), "match"),
    "1 450 negative numbers": ("||".join(["-1>-1"] * 1450), "no-match"),
    "390 attributes": ("||".join(['device.attributes["a"].b'] * 390), "error"),
    "480 tests for a field": ("&&".join(["has(device.driver)"] * 480), "match"),
    "780 loops": ("||".join(["[].all(x,x)"] * 780), "match"),
    "500 loops that map": ("||".join(["[1].map(x,x)==[2]"] * 500), "no-match"),
    "230 optional maps": ("&&".join(["optional.of(1).optMap(x,x)==optional.of(1)"] * 230), "match"),
    "120 bindings": (bound("1", ["@"] * 120, "@ == 1"), "match"),
    "640 comparisons of anything": ("||".join(["dyn(1)==dyn(2)"] * 640), "no-match"),
    "390 quantities": ("||".join(['!isQuantity("1Gi")'] * 390), "no-match"),
    "3 000 unknown names": ("||".join(["x"] * 3000), "type"),
    "700 unknown functions": ("||".join(["a.b.c.d.e(1)"] * 700), "type"),
    "1 700 sums of number and text": ("||".join(['1+""'] * 1700), "type"),
    "2 000 messages": ("||".join(["a{}"] * 2000), "type"),
}
LOOPS: Final = {
    "4 loops": (nested(4), "no-match"),
    "6 loops": (nested(6), "error"),
    "6 loops of all": (nested(6, "all", "true"), "error"),
    "6 loops of map": (nested(6, "map", "1") + " == []", "error"),
    "6 loops of filter": (nested(6, "filter", "true") + ".size() == 1", "type"),
    "6 loops of exists_one": (nested(6, "exists_one", "true"), "error"),
    "160 000 iterations": ("lists.range(160000).all(i, true)", "match"),
    "160 000 iterations with two variables": ("lists.range(160000).all(i, v, i == v)", "error"),
    "1 000 lists of 1 000": ("lists.range(1000).all(i, i in lists.range(1000))", "error"),
    "1 000 equal lists of 800": (
        "lists.range(1000).all(i, lists.range(800) == lists.range(800))",
        "error",
    ),
    "the maximum number of iterations": ("lists.range(9223372036854775807).size() > 0", "error"),
}
GROWTH: Final = {
    "a text doubled 60 times": (bound('"0123456789"', ["@ + @"] * 60, "@.size() > 0"), "error"),
    "a text replaced by itself 8 times": (
        bound('"0123456789"', ['@.replace("", @)'] * 8, "@.size() > 0"),
        "error",
    ),
    "a list doubled 17 times": (bound(TEN, ["@ + @"] * 17, " && ".join(["@ == @"] * 6)), "error"),
    "a list doubled 17 times, summed": (
        bound("[1, 2, 3]", ["@ + @"] * 14, "@.sum() == 98304"),
        "match",
    ),
    "2^40 parts, compared": (bound("[1, 1]", ["[@, @]"] * 40, "@ == @"), "error"),
    "2^25 parts, as a set": (bound("[1, 1]", ["[@, @]"] * 25, "sets.contains(@, @)"), "error"),
    "2^25 parts, searched": (bound("[1, 1]", ["[@, @]"] * 25, "@.indexOf(@[0]) == 0"), "error"),
    "2^25 parts, distinct": (
        bound("[1, 1]", ["[@, @]"] * 25, "@.distinct().size() == 1"),
        "error",
    ),
    "2^25 parts, flattened": (
        bound("dyn([1, 1])", ["dyn([@, @])"] * 25, "[@].flatten(60).size() == 1"),
        "error",
    ),
    "2^28 parts, as text": (
        bound("dyn([1, 1])", ["dyn([@, @])"] * 28, '"%s".format([@]) == ""'),
        "error",
    ),
    "2^28 parts, as a key": (bound("dyn([1, 1])", ["dyn([@, @])"] * 28, '{}[@] == ""'), "error"),
    "2^28 parts, as a name": (
        bound("dyn([1, 1])", ["dyn([@, @])"] * 28, 'device.attributes["a"][@] == ""'),
        "error",
    ),
}
LIBRARIES: Final = {
    "a pattern that backtracks": ('"' + "a" * 64 + '".matches("(a+)+b")', "no-match"),
    "a pattern that backtracks on a long text": (
        '"' + "a" * 5000 + '".matches("(a*)*b")',
        "no-match",
    ),
    "a pattern with many choices": (
        '"' + "a" * 64 + '".matches("' + "(a?){64}" * 3 + 'a{64}")',
        "match",
    ),
    "a pattern of 4 000 parts": (
        '"' + "a" * 2000 + '".matches("' + "a?" * 2000 + "a" * 2000 + '")',
        "match",
    ),
    "a pattern that repeats a million times": ('"a".matches("((a{100}){100}){100}")', "type"),
    "a pattern of 1 000 groups": ('"a".matches("' + "(" * 1000 + ")" * 1000 + '")', "match"),
    "a new pattern in each iteration": (
        'lists.range(20000).all(i, "aaa".matches("(a?){" + string(i % 1000) + "}"))',
        "error",
    ),
    "an enormous quantity": ('quantity("1e2000000000").isGreaterThan(quantity("1"))', "match"),
    "a sum of enormous quantities": (
        'quantity("1e2000000000").add(quantity("1")).isGreaterThan(quantity("1"))',
        "error",
    ),
    "a quantity of 9 000 digits": (
        'quantity("' + "9" * 9000 + '").isGreaterThan(quantity("1"))',
        "match",
    ),
    "20 000 sums of long quantities": (
        (
            "lists.range(20000).all(i, "
            'quantity("1e20000").add(quantity("1")).isGreaterThan(quantity("-1")))'
        ),
        "error",
    ),
    "an enormous duration": ('duration("9999999999999h") > duration("0s")', "type"),
    "a billion digits": ('"%.999999999f".format([1.0]) == ""', "no-match"),
    "a text of 400 clauses": (
        '"' + "%s" * 400 + '".format([' + ",".join(['"a"'] * 400) + "]).size() == 400",
        "match",
    ),
}
HOSTILE: Final = {**LITERALS, **NESTING, **CHAINS, **LOOPS, **GROWTH, **LIBRARIES}
