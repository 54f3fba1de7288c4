"""python3 -m genname_once KUBECONFIG MANIFEST: a program of the conformance run."""

import json
import os
import signal
import sys

from kubernetes import client, config

from . import OnceError, Unknown, create_once, read_manifest


def claim(outcome: str, name: str) -> None:
    print(json.dumps({"outcome": outcome, "name": name}))


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with open(sys.argv[2], encoding="utf-8") as manifest:
            document = read_manifest(manifest.read())
        config.load_kube_config(sys.argv[1])
        result = create_once(client.ApiClient(), document, os.environ.get("GENNAME_IDEMPOTENCY_KEY", ""),
                             os.environ.get("GENNAME_IDEMPOTENCY_SECRET"))
    except KeyboardInterrupt:
        return claim("unknown", "") or 130
    except OnceError as error:
        print("error:", error, file=sys.stderr)
        return claim("unknown" if isinstance(error, Unknown) else "failed", error.name) or 1
    except ValueError as error:
        print("error:", error, file=sys.stderr)
        return claim("failed", "") or 1
    return claim(result.outcome, result.name) or 0


sys.exit(main())
