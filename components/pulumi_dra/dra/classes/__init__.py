"""DeviceClasses of the cluster."""
