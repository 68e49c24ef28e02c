"""Rules of fields that several kinds share: names, labels, node selectors, lists, and schedules."""
