"""The webhook's certificates: made, kept in a Secret, changed in time, and known to the API server.

In: names and a clock. Out: `CertificateManager`, which every replica runs, and none of which serves
a certificate that the API server does not trust yet.
"""
