"""Everything that talks to the API server, and knows nothing of quotas.

In: an access (kubeconfig or service account). Out, by room: `api` the HTTP client, `watch` what
exists, kept up to date, `election` who leads, `events` what users are told, `certificates` the
webhook's TLS.
"""
