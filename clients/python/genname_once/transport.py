"""Sends one request with the connection, the credentials and the headers of an ApiClient."""

import io
import json
import queue
import threading
from dataclasses import dataclass
from typing import Any, Optional

import urllib3
from kubernetes.client import ApiClient

MOST = 16 << 20  # bytes of a response. The limit of kube-apiserver for an object is 3 MiB.


@dataclass(frozen=True)
class Response:
    """status is 0 if there was no response. body is the JSON of the response, or None."""

    status: int
    body: Any = None
    text: str = ""  # of a response without JSON, or why there was none
    retry_after: float = 0
    audited: bool = False  # it is from kube-apiserver
    sent: bool = True  # the server can have received the request


def send(client: ApiClient, method: str, path: str, body: Optional[Any], limit: float) -> Response:
    """Sends one request once, and returns within limit seconds. send follows no redirect.

    A limit of urllib3 is one for each read, so a server that sends a byte at a time never exceeds it. The request
    runs in a thread, which is abandoned when the time is over.
    """
    ended: "queue.SimpleQueue[Response]" = queue.SimpleQueue()
    threading.Thread(target=lambda: ended.put(_exchange(client, method, path, body, limit)), daemon=True).start()
    try:
        return ended.get(timeout=limit)
    except queue.Empty:
        return Response(0, text=f"no complete response within {limit:.0f} s")


def _exchange(client: ApiClient, method: str, path: str, body: Optional[Any], limit: float) -> Response:
    encoded = None if body is None else io.BytesIO(json.dumps(body).encode())
    try:
        headers = {**client.default_headers, "Accept": "application/json", "Content-Type": "application/json"}
        headers.update({s["key"]: s["value"] for s in client.configuration.auth_settings().values() if s["in"] == "header"})
        if encoded:
            headers["Content-Length"] = str(len(encoded.getbuffer()))
        raw = client.rest_client.pool_manager.urlopen(
            method, client.configuration.host + path, body=encoded, headers=headers, retries=False, redirect=False,
            timeout=urllib3.Timeout(connect=limit, read=limit), preload_content=False)
        data = raw.read(MOST)
        if len(data) == MOST:
            raw.close()
            return Response(raw.status, text="the response is too long")
        raw.release_conn()
        return _response(raw.status, raw.headers, data)
    except Exception as error:  # whatever it is, the request had no usable response. A body that was not read was not sent
        return Response(0, text=f"{type(error).__name__}: {error}", sent=encoded is None or encoded.tell() > 0)


def _response(status: int, headers: Any, data: bytes) -> Response:
    after = str(headers.get("Retry-After", ""))
    text = ""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body, text = None, data[:200].decode("utf-8", "replace").strip()
    return Response(status, body, text, min(int(after), 1 << 31) if after.isascii() and after.isdigit() else 0,
                    "Audit-Id" in headers)
