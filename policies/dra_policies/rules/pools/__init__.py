"""Rules about node pools: machine types, disks, images, counts, and whether the cloud accepts
them.
"""
