"""Everything that talks to the API server: client, reflectors, Lease, certificates, events."""
