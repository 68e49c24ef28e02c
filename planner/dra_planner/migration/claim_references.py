"""References to claim templates in kustomizations that rename objects.

Kustomize's namePrefix and nameSuffix rename ResourceClaimTemplates, but not the references of pods,
because Kustomize's default configuration doesn't contain these references.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from dra_planner.documents.yaml_reader import Fault
from dra_planner.errors import Place
from dra_planner.manifests.rewriting.document_edits import Unwritable
from dra_planner.migration.editor import Editor, NotEditable
from dra_planner.migration.outcome import MigratedFile, Migration, ObjectChange
from dra_planner.sources import Source

REFERENCES_FILE: Final = "claim-references.yaml"
_REFERENCES: Final = """\
nameReference:
  - kind: ResourceClaimTemplate
    group: resource.k8s.io
    fieldSpecs:
      - path: spec/resourceClaims/resourceClaimTemplateName
      - path: spec/template/spec/resourceClaims/resourceClaimTemplateName
      - path: spec/jobTemplate/spec/template/spec/resourceClaims/resourceClaimTemplateName
"""


def with_claim_references(found: Migration, renaming: Iterable[Source]) -> Migration:
    """Return the migration in which `renaming` kustomizations also rename references to claim
    templates.

    Each of these kustomizations gets a file with Kustomize's configuration.
    """
    files = {each.source.name: each for each in found.files}
    changes = list(found.changes)
    for source in renaming:
        file = files.get(source.name, MigratedFile(source, source.text))
        folder = os.path.dirname(source.name)
        editor, is_changed = Editor(file.text), True
        what = (
            f"lists {REFERENCES_FILE} in configurations, so that Kustomize also renames references "
            "to claim templates"
        )
        try:
            editor.append(("configurations",), [REFERENCES_FILE])
        except (Fault, NotEditable, Unwritable) as error:
            what, is_changed = f"add {REFERENCES_FILE} to configurations, because {error}", False
        new = Source(os.path.join(folder, REFERENCES_FILE), "")
        files[new.name] = MigratedFile(new, _REFERENCES)
        files[source.name] = MigratedFile(file.source, editor.text)
        changes.append(
            ObjectChange(
                place=Place(source.name, 1),
                object=f"Kustomization {folder or '.'}",
                what=what,
                is_changed=is_changed,
            )
        )
    return replace(found, files=tuple(files.values()), changes=tuple(changes))
