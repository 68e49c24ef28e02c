"""Rules about Karpenter pools."""
