"""Hosts the components for programs in other languages: `pulumi package add` on this folder makes an SDK of them."""

from importlib.metadata import version

from pulumi.provider.experimental import component_provider_host

from pulumi_dra.hosting import hosted_components

if __name__ == "__main__":
    component_provider_host(hosted_components(), "pulumi-dra", version=version("pulumi-dra"))
