"""Objects that deliver manifests from a repository: Argo CD Applications, and Flux HelmReleases and
Kustomizations.

`deliver(sources)` replaces objects whose source is a folder in this repository with the folder's
rendered manifests.
"""

from dra_command.inputs.delivery.delivery import NOT_RENDERED, Delivered, deliver

__all__ = ["NOT_RENDERED", "Delivered", "deliver"]
