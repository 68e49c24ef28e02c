"""Kueue's queues in a migration: the requirements of their flavors, and quotas for claims."""

from dra_planner.migration.kueue.objects import is_queue_object, migrate_queue_object
from dra_planner.migration.kueue.queues import NotOneFlavor, Queues

__all__ = ["NotOneFlavor", "Queues", "is_queue_object", "migrate_queue_object"]
