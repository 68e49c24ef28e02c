"""The resources of a seeded stack. A value from another resource is an output of that resource."""

from __future__ import annotations

import json
from typing import Any

import pulumi


class Plain(pulumi.CustomResource):
    """A resource of any type."""

    def __init__(
        self, token: str, name: str, props: dict[str, Any], opts: pulumi.ResourceOptions
    ) -> None:
        super().__init__(token, name, props, opts)


def provider(name: str, token: str, props: dict[str, Any]) -> pulumi.ProviderResource:
    return pulumi.ProviderResource(token.removeprefix("pulumi:providers:"), name, props)


def kubeconfig(server: str) -> str:
    """Return a kubeconfig for a server that doesn't exist. The simulated providers read only the
    kubeconfig itself.
    """
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": f"https://{server}"}}],
            "users": [{"name": "u", "user": {"token": "none"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


def from_output(key: str, source: pulumi.CustomResource) -> Any:
    """Return the property as an output of its source, which isn't known until the source is
    created.
    """
    if key == "launchTemplate":
        return {"id": source.id, "version": "1"}
    if key == "kubeconfig":
        return source.id.apply(kubeconfig)
    return source.id.apply(lambda identity: identity.rpartition("/")[2])


made: dict[str, Any] = {}
for short, given in json.loads(pulumi.Config().require("resources")).items():
    props = dict(given["props"])
    props |= {
        key: from_output(key, made[names[0]])
        for key, names in given.get("sources", {}).items()
        if names[0] in made
    }
    if given["type"].startswith("pulumi:providers:"):
        made[short] = provider(short, given["type"], props)
    else:
        opts = pulumi.ResourceOptions(provider=made.get(given.get("provider", "")))
        made[short] = Plain(given["type"], short, props, opts)
