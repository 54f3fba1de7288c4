"""Creates a Kubernetes object with generateName exactly once per key.

    from kubernetes import client, config
    from genname_once import create_once

    config.load_kube_config()
    result = create_once(client.ApiClient(), manifest, "prod-migrate-" + commit)
    print(result.outcome, result.name)

This is level 1 of the specification of kubectl genname (docs/spec), with the package
kubernetes and the standard library. A second call with the same key, from any process,
finds the object of the first one. kubectl genname create makes the same object of the
same key.
"""

from .client import Failed, Interrupted, Mismatch, OnceError, Result, Unknown, context_namespace, create_once
from .derive import ID_ANNOTATION, canonical, derive_digest, derive_id, derive_name
from .manifest import read_manifest

__all__ = [
    "Failed", "ID_ANNOTATION", "Interrupted", "Mismatch", "OnceError", "Result", "Unknown", "canonical",
    "context_namespace", "create_once", "derive_digest", "derive_id", "derive_name", "read_manifest",
]
