"""Files that repositories share: fleets and configurations in other folders, git repositories, and
registries.
"""
