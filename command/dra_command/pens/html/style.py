"""Colors and styles of the HTML reports and pictures: a single set of tokens for light, dark,
print, and forced colors.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Final

LIGHT: Final = {
    "paper": "#ffffff",
    "sheet": "#f5f6f7",
    "ink": "#1b1f24",
    "soft": "#57606a",
    "edge": "#76808a",
    "line": "#d8dde2",
    "ok": "#1a6b35",
    "bad": "#b3261e",
    "badground": "#fdf0ee",
    "doubt": "#7a5200",
    "doubtground": "#fcf5e6",
    "link": "#1f5a96",
    "u1": "#24568a",
    "u1ink": "#ffffff",
    "u2": "#a9c6e2",
    "u2ink": "#12263a",
    "u3": "#dde9f4",
    "u3ink": "#12263a",
}
DARK: Final = {
    "paper": "#14171b",
    "sheet": "#1b1f24",
    "ink": "#e6e9ec",
    "soft": "#a2abb4",
    "edge": "#7d8791",
    "line": "#31373e",
    "ok": "#6fcf8a",
    "bad": "#ff9288",
    "badground": "#2c1b1b",
    "doubt": "#f0bd62",
    "doubtground": "#2a2314",
    "link": "#8fbcec",
    "u1": "#8db9e4",
    "u1ink": "#0c1a28",
    "u2": "#3f6b97",
    "u2ink": "#ffffff",
    "u3": "#233a52",
    "u3ink": "#e6e9ec",
}
TEXT_ON: Final = (
    ("ink", "paper"), ("ink", "sheet"), ("soft", "paper"), ("soft", "sheet"), ("ok", "paper"), ("bad", "paper"),
    ("bad", "badground"), ("doubt", "paper"), ("doubt", "doubtground"), ("link", "paper"),
    ("u1ink", "u1"), ("u2ink", "u2"), ("u3ink", "u3"), ("soft", "badground"), ("bad", "sheet"), ("ok", "sheet"),
    ("ink", "badground"),
)  # fmt: skip
"""Text and background colors with a contrast of at least 4.5:1."""
LINES_ON: Final = (
    ("edge", "paper"),
    ("u1", "paper"),
    ("bad", "paper"),
    ("ink", "paper"),
    ("link", "paper"),
)
"""Lines that have a meaning, and their background, with a contrast of at least 3:1."""


def _variables(tokens: dict[str, str]) -> str:
    return ";".join(f"--{name}:{colour}" for name, colour in tokens.items())


PICTURE_STYLE: Final = """
text{fill:var(--ink);font:12px system-ui,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
.t2{fill:var(--soft)}.c{text-anchor:middle}.e{text-anchor:end}.b{font-weight:650}
.f1{fill:var(--u1)}.f2{fill:var(--u2);stroke:var(--u1);stroke-width:.8}
.f3{fill:var(--u3);stroke:var(--u1);stroke-width:.8}
text.g1,text.g2,text.g3{font-size:11px;font-weight:650;text-anchor:middle}
text.g1{fill:var(--u1ink)}text.g2{fill:var(--u2ink)}text.g3{fill:var(--u3ink)}
.free{fill:var(--paper);stroke:var(--edge)}.str{fill:url(#hatch);stroke:var(--edge)}
.off{fill:none;stroke:var(--edge);stroke-dasharray:1.5 2}.allow{fill:none;stroke:var(--line)}
.over{fill:none;stroke:var(--bad);stroke-width:1.4}.open{fill:none;stroke:var(--doubt);stroke-dasharray:3 2}
.root{fill:none;stroke:var(--edge)}.max{stroke:var(--ink);stroke-width:1.6}.hl{stroke:var(--edge);stroke-width:1.3}
.ground{fill:var(--paper)}
"""
_FORCED: Final = """
@media(forced-colors:active){.free,.str,.off,.allow{stroke:CanvasText}.f1,.f2,.f3{fill:Highlight}
text.g1,text.g2,text.g3{fill:HighlightText}}
"""
_BLOCKS: Final = """\
BLOCKS,BLOCKS tbody,BLOCKS tfoot{display:block}BLOCKS thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
BLOCKS tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:.1rem .5rem;padding:.6rem 0;border-bottom:1px solid var(--line)}
BLOCKS th{grid-column:1/-1}BLOCKS th,BLOCKS td{display:block;border-bottom:0;padding:0}BLOCKS td.hit{padding-left:.7rem}BLOCKS td.n{text-align:left}BLOCKS .n+td:not(.n){padding-left:0}BLOCKS td:empty{display:none}BLOCKS td[data-l]::before{content:attr(data-l) ": ";color:var(--soft);font-size:13px}\
"""
"""Styles of tables whose rows are blocks of labeled cells."""
_PAGE: Final = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main,footer{max-width:70rem;margin:0 auto;padding:2rem 1.5rem 0}
footer{padding-bottom:3rem;color:var(--soft);font-size:13px}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--link);outline-offset:3px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.25rem .5rem}
.where{color:var(--soft);margin:0 0 .8rem;font-size:13px}
h1{display:flex;align-items:center;gap:.6rem;margin:0;font-size:30px;line-height:1.2;font-weight:650}
h1 svg{width:30px;height:30px;flex:none}h1+.facts,h1+.note{margin-top:.9rem}
h2{font-size:19px;font-weight:650;margin:2.6rem 0 .35rem}
h3{font-size:16px;font-weight:650;margin:0}
p{margin:.35rem 0;max-width:46rem;overflow-wrap:anywhere}
h1,h2,h3,li{overflow-wrap:anywhere;min-width:0}
.decision{font-size:19px;line-height:1.45;margin:.7rem 0 1.3rem}
.note{color:var(--soft);font-size:13px}
code{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.5rem;margin:0}
.facts dt,.words dt{color:var(--soft)}.facts dd,.words dd{margin:0;overflow-wrap:anywhere}
.toc{margin:1.5rem 0 0;padding:.55rem 0;border:solid var(--line);border-width:1px 0;font-size:13px;display:flex;flex-wrap:wrap;gap:.2rem 1.25rem}
.toc a{display:inline-block;padding:.2rem 0}
.fits,.ok{color:var(--ok)}.does-not-fit,.bad,.error{color:var(--bad)}.cannot-tell,.doubt,.warning{color:var(--doubt)}
.nw{white-space:nowrap}.s{font-weight:700;display:inline-block;min-width:.95em;text-align:center}
.scroll{overflow-x:auto;margin:.6rem 0 .3rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);font-size:13px;padding-bottom:.35rem}
th,td{padding:.42rem .9rem .42rem 0;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--line)}
tbody th,td.hit,th code{overflow-wrap:break-word}
th:last-child,td:last-child{padding-right:0}
thead th{font-weight:500;color:var(--soft);font-size:13px;vertical-align:bottom;overflow-wrap:normal}
tbody th{font-weight:400}tfoot th,tfoot td{font-weight:650;border-bottom:0}
.n,td.number,th.number{text-align:right;white-space:nowrap}thead th.n{white-space:normal}
.n+th:not(.n),.n+td:not(.n){padding-left:1.2rem}
.key{display:inline-block;min-width:1.45em;padding:0 .3em;border-radius:3px;text-align:center;font-size:12px;line-height:1.5;font-weight:650;margin-right:.5em}
.k1{background:var(--u1);color:var(--u1ink)}.k2{background:var(--u2);color:var(--u2ink)}.k3{background:var(--u3);color:var(--u3ink)}
.k2,.k3{box-shadow:inset 0 0 0 1px var(--u1)}.k0{border:1px solid var(--edge)}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:0 3.5rem}
.findings{list-style:none;margin:.6rem 0 0;padding:0}
.findings>li{border-left:3px solid var(--bad);padding:.1rem 0 .3rem 1.1rem;margin:0 0 1.5rem}
.findings>li.cannot-tell,.findings>li.warning{border-color:var(--doubt)}.findings>li.note{border-color:var(--edge)}
.findings>li,.findings>li.note{color:inherit;font-size:inherit}
.fix{display:grid;grid-template-columns:max-content 1fr;gap:0 .6rem;margin:.4rem 0}.fix>b{color:var(--ok)}
.fix>span{overflow-wrap:anywhere;min-width:0;max-width:46rem}
pre{margin:.5rem 0;padding:.7rem .9rem;background:var(--sheet);border-radius:4px;overflow-x:auto}
pre code{white-space:pre-wrap}
del{color:var(--bad);text-decoration-thickness:1px}ins{color:var(--ok);text-decoration:none;font-weight:650}
.pool{display:grid;grid-template-columns:20rem minmax(0,1fr);gap:.75rem 3rem;padding:1.4rem 0 1.5rem;border-bottom:1px solid var(--line)}
.pool>header{grid-column:1/-1}.pool header p{margin:.1rem 0 0;max-width:none;color:var(--soft)}
figure{margin:0;min-width:0}figcaption{color:var(--soft);font-size:13px;margin:0 0 .5rem}
.chart{width:100%;max-width:20rem;height:auto;display:block}
.nodes{list-style:none;margin:0;padding:0}.nodes>li{margin:0 0 1rem}.nodes p{margin:0 0 .35rem;max-width:none}
.devs{display:flex;flex-wrap:wrap;gap:10px 6px;align-items:flex-start}.devs svg{display:block;max-width:100%;height:auto;overflow:visible}
.devs span{font-size:12px;align-self:center}
.legend{display:flex;flex-wrap:wrap;gap:.35rem 1.5rem;margin:.9rem 0 0;padding:0;list-style:none;font-size:13px;color:var(--soft)}
.legend li{display:flex;align-items:center;gap:.5rem}.legend svg{flex:none}
.multi{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,18rem),1fr));gap:1.4rem 2.2rem;margin:1rem 0 0;padding:0;list-style:none}
.multi .devs{gap:5px}
.hit{background:var(--badground);box-shadow:inset 3px 0 0 var(--bad)}td.hit{padding-left:.7rem}
.v{color:var(--soft);font-size:13px;display:block}
details{margin:.9rem 0}summary{cursor:pointer;color:var(--link);padding:.2rem 0}details ul{margin:.5rem 0;padding-left:1.1rem}
details li{margin:.15rem 0;max-width:46rem;overflow-wrap:anywhere}
.words{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;font-size:13px;margin:.6rem 0}
.words dt{color:var(--ink)}.words dd{color:var(--soft);max-width:42rem}
.steps{list-style:none;margin:.5rem 0 0;padding:0}.steps li{margin:.15rem 0;max-width:46rem;overflow-wrap:anywhere}.steps .m{padding-left:1.3em;text-indent:-1.3em}.steps .s{text-indent:0}
.steps .d1{margin-left:1.3rem}.steps .d2{margin-left:2.6rem}.steps .d3{margin-left:5rem;color:var(--soft)}
section>h3,main>h3{margin-top:1.4rem}
.vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
BLOCKS(.always)
@media(min-width:60.01rem){th.whole{white-space:nowrap}}
@media(min-width:40.01rem) and (max-width:60rem){.tight{font-size:13px}.tight th,.tight td{padding-right:.5rem}}
@media(max-width:60rem){.pool{grid-template-columns:minmax(0,1fr)}th,td{padding-right:.75rem}
BLOCKS(.early)
}
@media(max-width:40rem){
main,footer{padding-left:1rem;padding-right:1rem}h1{font-size:26px}.decision{font-size:17px}
.facts,.words,.fix{grid-template-columns:minmax(0,1fr);gap:0}.facts dd,.words dd{margin-bottom:.45rem}
.stack,.stack tbody,.stack tfoot,.stack caption{display:block}
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack tr{display:grid;grid-template-columns:repeat(auto-fill,minmax(3.6rem,1fr));gap:.1rem .5rem;padding:.6rem 0;border-bottom:1px solid var(--line)}
.stack th,.stack td{display:block;border:0;padding:0;grid-column:1/-1;min-width:0;overflow-wrap:anywhere}.thirds tr{grid-template-columns:repeat(3,minmax(0,1fr))}.stack td.n{grid-column:auto;overflow-wrap:normal}
.stack td:empty{display:none}.thirds td.n:empty{display:block;visibility:hidden}.stack td.wide{grid-column:span 2}td.hit{padding-left:.7rem}
.stack td.n[data-l]::before{content:attr(data-l);display:block;color:var(--soft);font-size:12px;font-weight:400}
.stack td.n{align-self:end}.stack td.n[data-l]::before{white-space:normal;line-height:1.2}.stack .n+td:not(.n){padding-left:0}
.lines td.n{grid-column:1/-1;text-align:left}.lines td.n[data-l]::before{content:attr(data-l) ": ";display:inline;font-size:13px}
.stack th[data-l]::before,.stack td:not(.n)[data-l]::before{content:attr(data-l) ": ";color:var(--soft);font-size:13px}
}
@media print{:root{color-scheme:light;LIGHT}
.toc,.skip{display:none}body{font-size:10.5pt}main{padding:0;max-width:none}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}h2,h3,h2+.note,h3+.note,figcaption,thead{break-after:avoid}
tr,.nodes>li,.multi>li,.findings>li,figure{break-inside:avoid}.scroll{overflow:visible}a,summary{color:inherit;text-decoration:none}
summary{list-style:none;font-weight:650;break-after:avoid}@page{margin:16mm}
details::details-content{content-visibility:visible;block-size:auto}.pool{grid-template-columns:minmax(0,1fr)}}
@media(prefers-contrast:more){:root{--line:var(--edge);--soft:var(--ink)}}
"""


def _themes() -> str:
    dark = f"@media(prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
    return f":root{{color-scheme:light dark;{_variables(LIGHT)}}}\n{dark}\n"


def page_style() -> str:
    """Return the styles of a page."""
    page = _PAGE.replace("LIGHT", _variables(LIGHT))
    for name in (".always", ".early"):
        page = page.replace(f"BLOCKS({name})", _BLOCKS.replace("BLOCKS", name))
    return f"{_themes()}{PICTURE_STYLE}{page}{_FORCED}"


def picture_style() -> str:
    """Return the styles of a standalone picture."""
    return f"{_themes().replace(':root', 'svg')}{PICTURE_STYLE}{_FORCED}"


def security_policy(style: str) -> str:
    """Return a content security policy that allows a page only to use this style."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
