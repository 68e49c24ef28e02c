"""A Python language host for Pulumi CLIs that don't include one.

The engine starts it as `pulumi-language-python`. It starts the user's program, component packages,
and policy packs.
"""
