"""The stand-in for volcano-admission: webhooks for queues and jobs, served over HTTPS."""
