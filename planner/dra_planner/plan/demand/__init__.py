"""The demand of a plan: pods that need the fleet's devices, DeviceClasses, and headroom."""
