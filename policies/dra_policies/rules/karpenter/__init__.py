"""Rules about pools that Karpenter starts."""
