"""Options of a component's children: what the component waits for, each of its children waits for
too.

Pulumi hands a component's `depends_on` to the engine with the component alone, so a child could be
created before what the component was told to wait for
(pulumi/pulumi:sdk/python/lib/pulumi/resource.py@v3.259.0, where only `protect` and providers are
inherited). The capacity plan must come before everything, so it is passed on here.
"""

from collections.abc import Sequence
from typing import Any

import pulumi


class Children:
    """Makes the options of one component's children."""

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
        """Return what makes the options of children that stay when what the component goes with is
        deleted.

        They are deleted by themselves: the roles of what runs in a cluster do not go with it.
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
            # what the component was told goes before what it works out
            options.pop("custom_timeouts", None)
        own = pulumi.ResourceOptions(depends_on=list(depends_on), **options)
        return pulumi.ResourceOptions.merge(self._inherited, own)

    def invoke_options(
        self, *, version: str | None = None, waits: bool = True
    ) -> pulumi.InvokeOutputOptions:
        """Return the options of a look-up, which waits and asks the provider that the component was
        given.

        Without a `version` it is that of the SDK; the default of Pulumi's class would ask for a
        provider of none. One that does not wait is answered in a first preview too, where nothing
        is there to wait for.
        """
        depends_on = self._inherited.depends_on if waits else None
        return pulumi.InvokeOutputOptions(
            parent=self._component, depends_on=depends_on, version=version
        )
