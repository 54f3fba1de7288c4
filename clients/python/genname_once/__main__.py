"""python3 -m genname_once KUBECONFIG MANIFEST: a program of the conformance run."""

import json
import os
import signal
import sys
from typing import Optional, Tuple

from kubernetes import client, config

from . import Interrupted, OnceError, Unknown, context_namespace, create_once, read_manifest


def create(kubeconfig: str, manifest: str) -> Tuple[str, str]:
    """Returns the outcome and the name."""
    with open(manifest, encoding="utf-8") as file:
        document = read_manifest(file.read())
    config.load_kube_config(kubeconfig)
    secret: Optional[str] = os.environ.get("GENNAME_IDEMPOTENCY_SECRET")
    result = create_once(client.ApiClient(), document, os.environ.get("GENNAME_IDEMPOTENCY_KEY", ""), secret,
                         timeout=20, namespace=context_namespace(kubeconfig))
    return result.outcome, result.name


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code = 1
    try:
        outcome, name = create(*sys.argv[1:])
        code = 0
    except Interrupted as error:
        outcome, name, code = "unknown", error.name, 130
    except KeyboardInterrupt:
        outcome, name, code = "failed", "", 130
    except OnceError as error:
        outcome, name = "unknown" if isinstance(error, Unknown) else "failed", error.name
        print("error:", error, file=sys.stderr)
    except Exception as error:  # the input or the kubeconfig: create_once reports everything after the first POST
        outcome, name = "failed", ""
        print(f"error: {type(error).__name__}: {error}", file=sys.stderr)
    print(json.dumps({"outcome": outcome, "name": name}))
    return code


sys.exit(main())
