"""The demand of a plan: pods that need the fleet's devices, the DeviceClasses they name, and room
to keep free.
"""
