"""A replacement of the vendor's Python language host, for a CLI that contains none.

The engine starts it as `pulumi-language-python`; it starts the user's program, component packages
and policy packs.
"""
