"""Questions to the operator and their answers, as objects: QueueReview and WorkloadReview."""
