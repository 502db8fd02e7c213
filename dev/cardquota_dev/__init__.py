"""The local control plane: real etcd, API server, controllers, scheduler and kwok, no cluster.

`python -m cardquota_dev build | up | down`. Start reading at `__main__` (commands), `supervisor`
(what runs and in which order) or `testing` (a plane as tests see it).
"""
