"""Configuration of the command and the policy pack: `pulumi-dra.yaml`, and exemptions written at an
object.
"""
