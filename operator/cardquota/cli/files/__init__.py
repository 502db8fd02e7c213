"""Kubernetes objects of YAML files, as the commands read them.

In: files, folders or standard input. Out: typed objects, sorted into the cluster's own objects and
workloads.
"""

from .inventory import WrittenWorkload, sort_documents
from .yaml_files import Document, YamlFileError, read_files

__all__ = [
    "Document",
    "WrittenWorkload",
    "YamlFileError",
    "read_files",
    "sort_documents",
]
