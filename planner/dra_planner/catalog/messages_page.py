"""The known messages as a page for people: `python -m dra_planner.catalog.messages_page >
docs/messages.md`.
"""

from __future__ import annotations

import sys
from itertools import groupby

from dra_planner.catalog.messages import Message, messages

_INTRODUCTION = """\
# Messages

If pods with claims don't run, look on this page for the error message that the API server,
scheduler, kubelet, driver, Helm, queue, or autoscaler printed. Each entry explains the cause and the fix. `make docs`
generates this page from `planner/dra_planner/data/messages.csv`. To explain a message in a
terminal:

```
pulumi-dra explain --message "0/12 nodes are available: 12 cannot allocate all claims."
```
"""


def render_page() -> str:
    """Return the page as Markdown, ending in a newline."""
    parts = [_INTRODUCTION.rstrip()]
    for where, group in groupby(messages(), key=lambda message: message.where):
        parts.append(f"## {where[0].upper()}{where[1:]}")
        parts += map(_section, group)
    return "\n\n".join(parts) + "\n"


def _section(message: Message) -> str:
    nothing = (
        f" No command is needed, because {message.nothing_to_run}."
        if message.nothing_to_run
        else ""
    )
    example = f"```\n{message.example}\n```"
    return (
        f"{example}\n\n{message.cause}\n\n*Next:* "
        f"{message.fix}{nothing}\n\n<sub>{message.stands_in}</sub>"
    )


if __name__ == "__main__":
    sys.stdout.write(render_page())
