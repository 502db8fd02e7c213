"""Builds the images of the operator and of the node agent, without a daemon and without root.

In: the checkout, the locked wheels of PyPI, and Debian's packages of Python and its libraries. Out:
an archive in the format of the Open Container Initiative (OCI), and what is in it as CycloneDX. An
image is a pile of layers: Debian's packages, the operator with its wheels, and for the agent what
it needs beyond. `python -m cardquota_dev.image` is the command.
"""
