"""What an administrator applies: webhook objects and policies.

In: the settings. Out: `manifests`, the same objects for the same settings, and `comparison`, which
finds where those in the cluster differ.
"""
