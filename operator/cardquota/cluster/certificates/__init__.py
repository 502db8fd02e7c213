"""The webhook's certificates: created, kept in a Secret, rotated, and published to the API server.

In: names and a clock. Out: `CertificateManager`, which every replica runs. No replica serves a
certificate that the API server does not trust yet.
"""
