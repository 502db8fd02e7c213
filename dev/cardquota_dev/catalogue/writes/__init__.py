"""Messages when a queue, a pod group or a Job of Volcano is written."""
