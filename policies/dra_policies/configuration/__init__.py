"""One configuration for the command and the pack: `pulumi-dra.yaml`, and exemptions that stand beside an object."""
