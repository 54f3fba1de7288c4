"""Calls create_once on servers that listen on a loopback address."""

import contextlib
import http.server
import json
import threading
import time
import unittest
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from kubernetes import client

from genname_once import Failed, Unknown, create_once

KEY = "prod-migrate-4f2a9c1"
MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "once-", "namespace": "default"}}
RESOURCES = {"kind": "APIResourceList", "resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": True}]}

# A Handler returns status, headers and body for a method, a path and a decoded body. None closes the connection.
Answer = Optional[Tuple[int, Dict[str, str], Any]]
Handler = Callable[[str, str, Any], Answer]


class Server(http.server.ThreadingHTTPServer):
    """Serves objects as an API server does, and calls handlers first."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.objects: Dict[str, Any] = {}
        self.received: List[str] = []  # method and path of each request for objects
        self.tokens: List[Optional[str]] = []
        self.handlers: List[Handler] = []  # one for each request for objects, and then none

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def client(self) -> client.ApiClient:
        configuration = client.Configuration()
        configuration.host = self.url
        configuration.api_key["authorization"] = "Bearer secret"
        return client.ApiClient(configuration)

    def answer(self, method: str, path: str, body: Any) -> Answer:
        if path == "/api/v1":
            return 200, {}, RESOURCES
        self.received.append(f"{method} {path}")
        return self.handlers.pop(0)(method, path, body) if self.handlers else self.store(method, path, body)

    def store(self, method: str, path: str, body: Any) -> Answer:
        name = body["metadata"]["name"] if method == "POST" else path.rpartition("/")[2]
        if method == "POST" and name not in self.objects:
            self.objects[name] = body
            return 201, {}, body
        if method == "POST":
            return 409, {}, status("AlreadyExists", name=name)
        return (200, {}, self.objects[name]) if name in self.objects else (404, {}, status("NotFound", name=name))


def status(reason: str, message: str = "", **details: Any) -> Any:
    return {"kind": "Status", "reason": reason, "message": message or reason, "details": details}


class _Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.tokens.append(self.headers.get("Authorization"))
        answer = self.server.answer(self.command, self.path, json.loads(data or "null"))
        if answer is None:
            self.close_connection = True
            return
        code, headers, body = answer
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in {"Content-Length": str(len(text)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_GET

    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class TestRedirects(unittest.TestCase):
    """A redirect of a POST is a lost response. No other server receives the object and the token."""

    def test_post(self) -> None:
        for code in (301, 302, 303, 307, 308):
            for away in (False, True):
                with self.subTest(code=code, away=away), serving() as server, serving() as other:
                    to = (other if away else server).url
                    server.handlers = [lambda method, path, body: (code, {"Location": to + path}, b"")]
                    result = create_once(server.client(), MANIFEST, KEY)
                    self.assertEqual("created", result.outcome)
                    self.assertEqual(["POST", "GET", "POST"], [line.split()[0] for line in server.received])
                    self.assertEqual([], other.tokens)


if __name__ == "__main__":
    unittest.main()
