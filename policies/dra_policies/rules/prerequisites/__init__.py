"""Parts of a cluster without which no node publishes devices."""
