"""Rules about devices that two managers would hand out: a DRA driver, a device plugin, an operator,
the cloud.
"""
