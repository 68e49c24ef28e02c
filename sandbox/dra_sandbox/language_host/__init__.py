"""A replacement of the vendor's Python language host, used only where the installed CLI brings none.

The engine starts it as `pulumi-language-python`; it starts the user's program, component packages and policy packs.
"""
