"""Resources in the form that the rest of the pack reads, regardless of how a program declares
them.
"""

from __future__ import annotations

from dra_policies.stack.forms.gitops import release_of_application
from dra_policies.stack.forms.property_aliases import with_aliases
from dra_policies.stack.forms.provider_forms import of_own_provider
from dra_policies.stack.forms.value_files import with_merged_values
from dra_policies.stack.resource import Resource


def in_common_form(resource: Resource) -> Resource:
    """Return a resource with the type and property names of the provider that rules read. Charts of
    GitOps controllers become releases, and all values of a chart are in one property.
    """
    return with_merged_values(release_of_application(with_aliases(of_own_provider(resource))))
