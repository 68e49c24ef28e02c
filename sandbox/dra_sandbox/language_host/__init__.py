"""A Python language host for a Pulumi CLI that doesn't contain one.

The engine starts it as `pulumi-language-python`. It starts the user's program, component packages,
and policy packs.
"""
