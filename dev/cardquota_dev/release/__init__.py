"""The release: everything that people install, as files in one folder.

In: a checkout. Out: the wheel and its source, the chart, the manifests, the images, the plugin, and
a list of their checksums. Nothing is published from here.
"""
