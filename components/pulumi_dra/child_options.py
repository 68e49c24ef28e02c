"""Options of a component's children. Each child also waits for the component's dependencies.

Pulumi applies a component's `depends_on` only to the component, so a child could be created before
those dependencies (pulumi/pulumi:sdk/python/lib/pulumi/resource.py@v3.259.0, where only `protect`
and providers are inherited). The capacity plan must come first, so children get the component's
`depends_on` too.
"""

from collections.abc import Sequence
from typing import Any

import pulumi


class Children:
    """Creates the resource options of one component's children."""

    def __init__(self, component: pulumi.Resource, opts: pulumi.ResourceOptions | None) -> None:
        self._component = component
        self._inherited = pulumi.ResourceOptions(
            parent=component,
            depends_on=opts.depends_on if opts else None,
            deleted_with=opts.deleted_with if opts else None,
            retain_on_delete=opts.retain_on_delete if opts else None,
            custom_timeouts=opts.custom_timeouts if opts else None,
        )

    def outliving(self) -> "Children":
        """Return the `Children` for resources that must be deleted explicitly, even if the
        component's `deleted_with` is deleted.

        For example, deleting a cluster doesn't delete the IAM roles of its workloads.
        """
        inherited = self._inherited
        options = pulumi.ResourceOptions(
            depends_on=inherited.depends_on, retain_on_delete=inherited.retain_on_delete
        )
        return Children(self._component, options)

    def options(
        self, *, depends_on: Sequence[pulumi.Input[pulumi.Resource]] = (), **options: Any
    ) -> pulumi.ResourceOptions:
        """Return the options of one child, which also waits for `depends_on`."""
        if self._inherited.custom_timeouts is not None:
            # values that the user sets take precedence over computed values
            options.pop("custom_timeouts", None)
        own = pulumi.ResourceOptions(depends_on=list(depends_on), **options)
        return pulumi.ResourceOptions.merge(self._inherited, own)

    def invoke_options(
        self, *, version: str | None = None, waits: bool = True
    ) -> pulumi.InvokeOutputOptions:
        """Return the options of a lookup that waits for the dependencies and uses the component's
        provider.

        Without `version`, the SDK's version is used, because the default of Pulumi's class requests
        a provider without a version. A lookup that doesn't wait also returns in the first preview,
        when no resource exists yet.
        """
        depends_on = self._inherited.depends_on if waits else None
        return pulumi.InvokeOutputOptions(
            parent=self._component, depends_on=depends_on, version=version
        )
