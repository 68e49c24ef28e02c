"""Patch files of Kustomize, which can't contain new objects: the claim templates of a patch get a
separate file, and the kustomizations that apply the patch list this file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from dra_planner.documents.yaml_reader import Fault
from dra_planner.errors import Place
from dra_planner.manifests.rewriting.document_edits import Unwritable, block_text
from dra_planner.migration.editor import Editor, NotEditable
from dra_planner.migration.outcome import MigratedFile, ObjectChange
from dra_planner.sources import Source


class PatchFile(Struct, frozen=True):
    """`claims` names the new file for the claim templates of a patch. `kustomizations` are the
    files of the kustomizations that apply the patch.
    """

    claims: str
    kustomizations: tuple[Source, ...]


class ListedClaims(Struct, frozen=True):
    """The new files with claim templates, the kustomizations that list them, and their changes."""

    files: tuple[MigratedFile, ...] = ()
    changes: tuple[ObjectChange, ...] = ()


def list_claims(added: Iterable[tuple[PatchFile, list[Mapping[str, Any]]]]) -> ListedClaims:
    """Write the claim templates of patches to their own files, and list these files in the
    kustomizations.
    """
    files: list[MigratedFile] = []
    changes: list[ObjectChange] = []
    editors: dict[str, tuple[Source, Editor]] = {}
    for patch, templates in added:
        text = "---\n".join(block_text(dict(each)) for each in templates)
        files.append(MigratedFile(Source(patch.claims, ""), text))
        for source in patch.kustomizations:
            _, editor = editors.setdefault(source.name, (source, Editor(source.text)))
            changes += _listed(editor, source, patch.claims)
    files += [MigratedFile(source, editor.text) for source, editor in editors.values()]
    return ListedClaims(tuple(files), tuple(changes))


def _listed(editor: Editor, source: Source, claims: str) -> Iterator[ObjectChange]:
    """Add a file to the resources of a kustomization, and yield the change."""
    folder = os.path.dirname(source.name)
    entry = os.path.relpath(claims, folder or ".")
    what, is_changed = f"lists {entry}, the file with the claims for a patch, in resources", True
    try:
        editor.append(("resources",), [entry])
    except (Fault, NotEditable, Unwritable) as error:
        what, is_changed = f"add {entry} to resources, because {error}", False
    title = f"Kustomization {folder or '.'}"
    yield ObjectChange(place=Place(source.name, 1), object=title, what=what, is_changed=is_changed)
