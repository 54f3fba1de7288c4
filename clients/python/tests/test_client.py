"""Calls create_once on servers that listen on a loopback address."""

import contextlib
import http.server
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from kubernetes import client

from genname_once import Failed, Interrupted, Mismatch, OnceError, Unknown, context_namespace, create_once
from genname_once import findings, transport

KEY = "prod-migrate-4f2a9c1"
MANIFEST: Dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "once-", "namespace": "default"}}
SENT = findings.Sent("once-bcdfghjklm", "default", "", "ConfigMap", "v1-00112233445566778899aabbccddeeff-0-0")
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
        self.discovery: Answer = (200, {}, RESOURCES)
        self.drip = False  # sends a byte every 100 ms in response to requests for objects

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
            return self.discovery
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
        if self.server.drip and self.path != "/api/v1":
            with contextlib.suppress(OSError):
                for byte in text:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(0.1)
            return
        with contextlib.suppress(OSError):
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


class TestTime(unittest.TestCase):
    """A call ends within its timeout, whatever the server does."""

    def test_server_that_drips(self) -> None:
        with serving() as server:
            server.drip = True
            start = time.monotonic()
            with self.assertRaises(Unknown) as caught:
                create_once(server.client(), MANIFEST, KEY, timeout=1)
            self.assertLess(time.monotonic() - start, 3)
            self.assertTrue(caught.exception.name.startswith("once-"))

    def test_server_that_is_not_there(self) -> None:
        with serving() as server:
            gone = server.client()
        start = time.monotonic()
        with self.assertRaises(Failed) as caught:
            create_once(gone, MANIFEST, KEY, timeout=1)
        self.assertLess(time.monotonic() - start, 3)
        self.assertEqual("", caught.exception.name)

    def test_no_name_before_a_post(self) -> None:
        def send(_: Any, method: str, *rest: Any) -> transport.Response:
            return transport.Response(200, RESOURCES) if method == "GET" else transport.Response(0, sent=False)

        with unittest.mock.patch("genname_once.client.send", send), self.assertRaises(Failed) as caught:
            create_once(client.ApiClient(), MANIFEST, KEY, "s" * 32, timeout=0.2)
        self.assertEqual("", caught.exception.name)
        with unittest.mock.patch("genname_once.client.send", send), \
                unittest.mock.patch("genname_once.client.time.sleep", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt) as interrupted:
            create_once(client.ApiClient(), MANIFEST, KEY, "s" * 32)
        self.assertNotIsInstance(interrupted.exception, Interrupted)

    def test_requests_that_are_not_sent(self) -> None:
        """The proxy or the server refuses the connection, the proxy refuses the tunnel, or the server has no TLS."""
        with serving() as server:
            port = server.server_port
            for host, proxy in (("https://127.0.0.1:1", None), ("https://127.0.0.1:1", "http://127.0.0.1:1"),
                                ("https://127.0.0.1:1", server.url), (f"https://127.0.0.1:{port}", None)):
                with self.subTest(host=host, proxy=proxy):
                    configuration = client.Configuration()
                    configuration.host, configuration.proxy, configuration.no_proxy = host, proxy, None
                    response = transport.send(client.ApiClient(configuration), "POST", "/a", {}, 5)
                    self.assertEqual((0, False), (response.status, response.sent), response.text)
            server.handlers = [lambda *_: None]
            dropped = transport.send(server.client(), "POST", "/a", {}, 5)
            self.assertEqual((0, True), (dropped.status, dropped.sent))

    def test_post_that_takes_all_of_its_time(self) -> None:
        now, held, limits = [0.0], [], []  # type: List[float], List[Any], List[float]

        def send(_: Any, method: str, path: str, body: Any, limit: float) -> transport.Response:
            if path == "/api/v1":
                return transport.Response(200, RESOURCES)
            if method == "POST":  # stored, and its response is lost
                now[0] += limit
                held.append(body)
                return transport.Response(0)
            limits.append(limit)
            return transport.Response(200, held[0])

        clock = types.SimpleNamespace(monotonic=lambda: now[0])
        with unittest.mock.patch("genname_once.client.send", send), unittest.mock.patch("genname_once.client.time", clock):
            result = create_once(client.ApiClient(), MANIFEST, KEY, timeout=20)
        self.assertEqual(("exists", [4.0]), (result.outcome, limits))


class TestRules(unittest.TestCase):
    def outcome(self, server: Server, **arguments: Any) -> Tuple[str, str]:
        """Returns the outcome, and the methods of the requests."""
        try:
            outcome: str = create_once(server.client(), MANIFEST, KEY, **arguments).outcome
        except OnceError as error:
            outcome = type(error).__name__
        return outcome, " ".join(line.split()[0] for line in server.received)

    def test_before_the_first_post(self) -> None:
        for code in (401, 403, 404):
            with self.subTest(code), serving() as server:
                server.discovery = code, {}, b"404 page not found\n"
                start = time.monotonic()
                self.assertEqual(("Failed", ""), self.outcome(server))
                self.assertLess(time.monotonic() - start, 2)

    def test_denied(self) -> None:
        quota: Answer = (403, {}, status("Forbidden", "exceeded quota: q"))
        denied: Answer = (403, {}, status("Forbidden", "no"))
        rbac: Answer = (403, {}, status("Forbidden", 'configmaps is forbidden: User "a" cannot create resource "configmaps"'))
        with serving() as server:
            server.handlers = [lambda *_: quota, lambda *_: denied]
            self.assertEqual(("Unknown", "POST GET"), self.outcome(server))
        with serving() as server:
            server.handlers = [lambda *_: rbac, lambda *_: denied]
            self.assertEqual(("Failed", "POST GET"), self.outcome(server))
        with serving() as server:  # the quota was used up by an earlier copy
            server.handlers = [lambda *request: server.store(*request) and quota]
            self.assertEqual(("exists", "POST GET"), self.outcome(server))

    def test_throttled_until_the_time_is_over(self) -> None:
        busy: Answer = (429, {"Retry-After": "60"}, b"")
        denied: Answer = (403, {}, status("Forbidden", "no"))
        with serving() as server:
            server.handlers = [lambda *_: busy]
            self.assertEqual(("Failed", "POST GET"), self.outcome(server, timeout=5))
        with serving() as server:
            server.handlers = [lambda *_: busy, lambda *_: denied]
            self.assertEqual(("Unknown", "POST GET"), self.outcome(server, timeout=5))

    def test_conflict_without_an_object(self) -> None:
        taken: Answer = (409, {"Retry-After": "60"}, status("AlreadyExists", name=""))
        with serving() as server:
            server.handlers = [lambda *_: taken]
            self.assertEqual(("Unknown", "POST GET GET"), self.outcome(server, timeout=5))

    def test_type_that_is_not_served(self) -> None:
        missing: Answer = (404, {}, b"404 page not found\n")
        with serving() as server:
            server.handlers = [lambda *_: missing, lambda *_: missing]
            self.assertEqual(("Failed", "POST GET"), self.outcome(server))

    def test_other_content(self) -> None:
        with serving() as server:
            self.assertEqual("created", create_once(server.client(), MANIFEST, KEY).outcome)
            self.assertEqual("exists", create_once(server.client(), MANIFEST, KEY).outcome)
            with self.assertRaises(Mismatch):
                create_once(server.client(), {**MANIFEST, "data": {"a": "b"}}, KEY)

    def test_interrupt_has_the_name(self) -> None:
        def interrupt(*_: Any) -> Answer:
            signal.raise_signal(signal.SIGINT)  # in the main thread
            return None

        with serving() as server, self.assertRaises(Interrupted) as caught:
            server.handlers = [interrupt]
            create_once(server.client(), MANIFEST, KEY)
        self.assertTrue(caught.exception.name.startswith("once-"))

    def test_errors_of_a_worker_process(self) -> None:
        errors: List[Any] = [Failed("once-a", "a"), Mismatch("once-a", "a"), Unknown("", "a"), Interrupted("once-a")]
        for error in errors:
            copied = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(error), error.name, str(error)), (type(copied), copied.name, str(copied)))


class TestArguments(unittest.TestCase):
    def test_typed_object(self) -> None:
        typed = client.V1ConfigMap(api_version="v1", kind="ConfigMap", data={"a": "b"}, metadata=client.V1ObjectMeta(
            generate_name="once-", namespace="default"))
        with serving() as server:
            first = create_once(server.client(), typed, KEY)
            second = create_once(server.client(), {**MANIFEST, "data": {"a": "b"}}, KEY)
            self.assertEqual(("created", "exists", first.name), (first.outcome, second.outcome, second.name))

    def test_namespace(self) -> None:
        without = {**MANIFEST, "metadata": {"generateName": "once-"}}
        with serving() as server:
            with self.assertRaises(ValueError):
                create_once(server.client(), without, KEY)
            create_once(server.client(), without, KEY, namespace="team")
            self.assertEqual(["POST /api/v1/namespaces/team/configmaps"], server.received)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            for context, want in (("{cluster: a, user: a, namespace: team}", "team"), ("{cluster: a, user: a}", "default")):
                file.seek(0)
                file.truncate()
                file.write("{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: a}}], "
                           "users: [{name: a, user: {}}], contexts: [{name: a, context: %s}]}" % context)
                file.flush()
                self.assertEqual(want, context_namespace(file.name))
                with tempfile.TemporaryDirectory() as pod, unittest.mock.patch.dict(os.environ), \
                        unittest.mock.patch("genname_once.client.SERVICE_ACCOUNT", pathlib.Path(pod)):
                    for file_in_pod, text in (("namespace", "runners\n"), ("token", "a")):
                        (pathlib.Path(pod) / file_in_pod).write_text(text, "utf-8")
                        self.assertEqual(want, context_namespace(file.name))
                    os.environ.update(KUBERNETES_SERVICE_HOST="10.0.0.1", KUBERNETES_SERVICE_PORT="443")
                    self.assertEqual(want.replace("default", "runners"), context_namespace(file.name))
                    os.environ["POD_NAMESPACE"] = "pods"
                    self.assertEqual(want.replace("default", "pods"), context_namespace(file.name))

    def test_unusable(self) -> None:
        metadata = MANIFEST["metadata"]
        unusable: List[Any] = [None, 5, [], "text", {}, {**MANIFEST, "kind": None}, {**MANIFEST, "apiVersion": "a/b/c"},
                               {**MANIFEST, "data": {"a": object()}}, {**MANIFEST, "data": {"a": "\ud800"}},
                               {**MANIFEST, "spec": float("nan")}]
        changes: List[Any] = [None, [], {"name": "a"}, {"generateName": 5}, {"namespace": 5}, {"labels": ["a"]},
                              {"annotations": "a"}]
        for changed in changes:
            unusable.append({**MANIFEST, "metadata": {**metadata, **changed} if isinstance(changed, dict) else changed})
        with serving() as server:
            for manifest in unusable:
                with self.subTest(manifest), self.assertRaises((TypeError, ValueError)):
                    create_once(server.client(), manifest, KEY)
            for arguments in ((None,), (b"key",), (KEY, b"s" * 32), (KEY, 5)):
                with self.subTest(arguments), self.assertRaises(TypeError):
                    create_once(server.client(), MANIFEST, *arguments)  # type: ignore[arg-type]
            for timeout in (float("nan"), -1):
                with self.subTest(timeout), self.assertRaises(ValueError):
                    create_once(server.client(), MANIFEST, KEY, timeout=timeout)
            self.assertEqual([], server.received)
            deep: Any = {}
            for levels in range(1, 600):
                deep = {"a": deep}
                if levels % 50 == 0:
                    with contextlib.suppress(TypeError, ValueError):
                        create_once(server.client(), {**MANIFEST, "data": deep}, f"{KEY}-{levels}")


class TestShapes(unittest.TestCase):
    """Responses of any shape never leave as another error than those of create_once."""

    def test_random_json(self) -> None:
        chance = random.Random(17)
        words = ["metadata", "name", "annotations", "details", "causes", "reason", "message", "kind", "Status", "code",
                 "AlreadyExists", "NotFound", "Forbidden", "ConfigMap", "v1", "apiVersion", "genname.dev/creation-id"]

        def shape(depth: int) -> Any:
            pick = chance.randrange(8 if depth else 5)
            if pick < 5:
                return [None, True, chance.choice([0, 5, -1.5, 10**400]), chance.choice(words), ""][pick]
            if pick == 5:
                return [shape(depth - 1) for _ in range(chance.randrange(3))]
            return {chance.choice(words): shape(depth - 1) for _ in range(chance.randrange(6))}

        for _ in range(400):
            code, body = chance.choice([200, 201, 400, 403, 404, 409, 422, 500]), shape(4)
            for request in ("POST", "GET"):
                with self.subTest(code=code, body=body, request=request):
                    response = transport.Response(code, body)
                    if request == "POST":
                        findings.of_post(SENT, response)
                    else:
                        findings.of_get(SENT, response)

    def test_bodies(self) -> None:
        deep = b"[" * 100_000 + b"]" * 100_000
        for body in (deep, b"\xff", b"9" * 5000, b"[]", b'{"metadata": []}', b'{"metadata": {"name": {}}}', b"null", b""):
            with self.subTest(body[:20]), serving() as server:
                shapes: List[Answer] = [(201, {}, body), (200, {}, body)]
                server.handlers = [lambda *_: shapes.pop(0)] * 2
                self.assertEqual("created", create_once(server.client(), MANIFEST, KEY).outcome)

    def test_defect(self) -> None:
        with serving() as server, unittest.mock.patch("genname_once.findings.of_post", side_effect=AttributeError):
            with self.assertRaises(Unknown) as caught:
                create_once(server.client(), MANIFEST, KEY)
            self.assertTrue(caught.exception.name.startswith("once-"))


class TestProgram(unittest.TestCase):
    """The program of the conformance run prints a claim for every input."""

    def test_broken_input(self) -> None:
        for manifest in ("a: [", "a: 1\n---\nb: 2\n", "", "5", "{kind: ConfigMap}", None):
            with self.subTest(manifest), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "manifest.yaml"
                if manifest is not None:
                    path.write_text(manifest, "utf-8")
                ran = subprocess.run([sys.executable, "-m", "genname_once", str(path), str(path)], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, check=False, env={**os.environ, "GENNAME_IDEMPOTENCY_KEY": KEY})
                self.assertEqual({"outcome": "failed", "name": ""}, json.loads(ran.stdout.splitlines()[-1]))
                self.assertNotIn(b"Traceback", ran.stderr)


if __name__ == "__main__":
    unittest.main()
