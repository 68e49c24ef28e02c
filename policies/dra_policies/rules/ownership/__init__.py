"""Rules about devices that two managers would allocate: a DRA driver, a device plugin, an operator,
the cloud.
"""
