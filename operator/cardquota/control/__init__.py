"""What changes the cluster: gate release, PodGroup status, Queue status."""
