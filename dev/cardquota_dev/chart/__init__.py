"""`python -m cardquota_dev.chart [--check]`: what is generated of `charts/cardquota`.

The settings' own renderer and `manifests/` stay the one source. Written by hand are only the
objects that people shape by values: Deployments, Services, NetworkPolicies.
"""
