"""Names of images in Karpenter's node classes that match images of other Kubernetes versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud, names
from dra_planner.releases import is_left_behind, is_newer
from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import StackView

_VERSION: Final = re.compile(r"-1\.(\d+)(?=[-*]|$)")


def images_of_other_versions(view: StackView) -> Iterator[Finding]:
    """Yield image names that match images of versions that the cluster's nodes can't have."""
    minor = max((each.minor for each in view.versions if each.minor), default=0)
    settings = [found for name in names() if (found := cloud(name).node_class) is not None]
    for each in view.objects if minor else ():
        kind = each.type.rpartition(":")[2]
        for own in settings:
            for term in (each.props.items(own.images) or ()) if own.kind == kind else ():
                image = term.text("name") or ""
                if re.match(own.image_names, image) and (problem := _fault(image, minor)):
                    yield Finding(
                        message=f'{kind} "{each.name}": image name {image} {problem}',
                        fix=f"use an image name that contains -1.{minor}-",
                        urn=each.urn,
                    )


def _fault(image: str, minor: int) -> str:
    """Return the problem with an image name in a cluster with this minor version, or ""."""
    found = _VERSION.search(image)
    if found is None:
        return (
            "matches images for every Kubernetes version, but this cluster's nodes need images "
            f"for 1.{minor}"
            if "*" in image
            else ""
        )
    given = int(found[1])
    if is_newer(given, minor) or is_left_behind(given, minor):
        return (
            f"matches images for Kubernetes 1.{given}, but nodes with these images can't join a "
            f"Kubernetes 1.{minor} cluster"
        )
    return ""
