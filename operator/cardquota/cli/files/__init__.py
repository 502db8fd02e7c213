"""Kubernetes objects of YAML files, as the commands read them.

In: files, folders or standard input. Out: typed objects, sorted by what the cluster has and who
wants something of it.
"""
