"""Rules about purchased capacity: reservations, Capacity Blocks, and Spot."""
