"""`python -m cardquota_dev.board [--check]`: the Grafana dashboard and the rules of Prometheus.

Both are made of one set of expressions, which see that all replicas count the same objects. Writes
`manifests/components/board` and `manifests/components/alerts/rules.yaml`.
"""
