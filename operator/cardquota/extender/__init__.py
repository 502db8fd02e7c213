"""The bind door: the place of the scheduler extender, which does not exist yet."""
