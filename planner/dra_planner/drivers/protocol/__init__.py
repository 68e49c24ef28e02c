"""The protocol of a device driver, and defaults that apply to most drivers."""
