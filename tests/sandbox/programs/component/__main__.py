"""A package of one component, as other languages use it."""

from typing import TypedDict

import pulumi
from pulumi.provider.experimental import component_provider_host


class GreetingArgs(TypedDict):
    name: pulumi.Input[str]
    """Who is greeted."""


class Greeting(pulumi.ComponentResource):
    """A component that returns a greeting."""

    text: pulumi.Output[str]

    def __init__(
        self, name: str, args: GreetingArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trial-package:index:Greeting", name, {}, opts)
        self.text = pulumi.Output.concat("hello ", args["name"])
        self.register_outputs({"text": self.text})


if __name__ == "__main__":
    component_provider_host(components=[Greeting], name="trial-package", version="1.2.3")
