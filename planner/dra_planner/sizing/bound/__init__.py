"""Lower bounds on nodes and cost: linear relaxations, exact proofs, and certificates."""
