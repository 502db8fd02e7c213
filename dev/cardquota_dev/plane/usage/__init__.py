"""The stand-in for metrics-server and for an adapter of custom metrics: what pods use, as they say.

A real HorizontalPodAutoscaler asks for metrics, and kwok has no kubelets that could be scraped. So
an annotation says what a pod uses. In: a plane that answers. Out: two APIs behind the API server's
aggregator, `metrics.k8s.io/v1beta1` and `custom.metrics.k8s.io/v1beta2`.
"""
