"""Objects that deliver manifests from a repository: Applications of Argo CD, HelmReleases and
Kustomizations of Flux.

`deliver(sources)` replaces those whose source is a folder here by the manifests that the folder
renders to.
"""

from dra_command.inputs.delivery.delivery import NOT_RENDERED, Delivered, deliver

__all__ = ["NOT_RENDERED", "Delivered", "deliver"]
