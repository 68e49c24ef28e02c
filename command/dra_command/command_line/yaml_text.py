"""YAML that people edit: keys in their order, and no anchors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import yaml

_WIDTH: Final = 120


class PlainDumper(yaml.SafeDumper):
    """Writes shared parts in full each time. People don't write anchors (`&id001`), and editing an
    anchor would also change places that the editor doesn't show.
    """

    def ignore_aliases(self, data: Any) -> bool:
        """Return True for all data."""
        return True


def yaml_text(document: Any) -> str:
    """Return one document as YAML."""
    return yaml_documents([document])


def yaml_documents(documents: Iterable[Any]) -> str:
    """Return documents as a YAML stream, separated by `---`."""
    text: str = yaml.dump_all(
        documents, Dumper=PlainDumper, sort_keys=False, width=_WIDTH, allow_unicode=True
    )
    return text
