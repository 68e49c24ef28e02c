"""Kueue's queues in a migration: what their flavors demand of jobs, and quotas for claims."""

from dra_planner.migration.kueue.objects import is_queue_object, migrate_queue_object
from dra_planner.migration.kueue.queues import NotOneFlavor, Queues

__all__ = ["NotOneFlavor", "Queues", "is_queue_object", "migrate_queue_object"]
