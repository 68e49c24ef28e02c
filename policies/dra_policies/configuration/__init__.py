"""Configuration of the command and the policy pack: `pulumi-dra.yaml`, and exemptions inside
objects.
"""
