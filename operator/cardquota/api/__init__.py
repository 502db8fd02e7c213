"""Models of our custom resources, from which the CRDs in `crds/` are generated.

In: nothing but the rules of the fields. Out: `QUEUE` and `POD_GROUP`, each a `CustomResource` with
its schema, columns and names; and the status of a Queue as it is written (`QueueStatusSchema`).
"""

from .custom_resource import CustomResource, SchemaError, structural
from .fields import WireModel, constrained
from .podgroup import POD_GROUP
from .queue import (
    QUEUE,
    CardStatus,
    QueueCondition,
    QueueStatusSchema,
    ResourceStatus,
    StatusColumns,
)
