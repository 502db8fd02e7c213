"""Models of our custom resources, from which the CRDs in `crds/` are generated.

In: nothing but the rules of the fields. Out: `QUEUE` and `POD_GROUP`, each a `CustomResource` with
its schema, columns and names; and the status of a Queue as it is written (`QueueStatusSchema`).
"""
