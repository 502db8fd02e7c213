"""The local control plane: real etcd, API server, controllers, scheduler and kwok, no cluster.

`python -m cardquota_dev build | up | down`. Enter by `__main__` (commands), `supervisor`
(what runs and in which order) or `testing` (what tests see of a plane).
"""
