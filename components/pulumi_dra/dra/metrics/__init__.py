"""GPU metrics by claim, with alerts and a dashboard."""
