"""Rules about devices that two managers would allocate, such as a DRA driver, a device plugin, an
operator, and the cloud.
"""
