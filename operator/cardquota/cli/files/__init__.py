"""Kubernetes objects of YAML files, as the commands read them.

In: files, folders or standard input. Out: typed objects, sorted into the cluster's own objects and
workloads.
"""
