"""The demand of a plan: pods that need the fleet's devices, their DeviceClasses, and capacity to
keep free.
"""
