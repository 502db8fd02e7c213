"""The doors that change the cluster: gate release, PodGroup status, Queue status."""
