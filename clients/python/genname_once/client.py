"""The requests of level 1: what to send, and when."""

import json
import logging
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Literal, Optional
from urllib.parse import quote

import kubernetes.config
from kubernetes.client import ApiClient

from . import derive, findings
from .derive import DIGEST_ANNOTATION, ID_ANNOTATION, Object
from .findings import message_of
from .transport import Response, send

log = logging.getLogger("genname_once")

RECHECKS: Dict[str, List[int]] = {"rejected": [], "denied": [1, 3, 9]}  # seconds before further GETs after a refusal
REQUEST_LIMIT = 30.0  # seconds
MOST_OTHERS = 3  # responses about other objects
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class OnceError(Exception):
    """A create that did not succeed. name is the object's name, or "" if no POST was sent."""

    def __init__(self, name: str, text: str):
        super().__init__(name, text)  # pickle calls the class with the arguments of its base
        self.name = name

    def __str__(self) -> str:
        return str(self.args[1])


class Failed(OnceError):
    """This call has not created the object, and none of its requests can create it later."""


class Mismatch(OnceError):
    """The object of this key exists, and was created with other content."""


class Unknown(OnceError):
    """The object may exist. Call create_once again with the same key and secret."""


class Interrupted(KeyboardInterrupt):
    """A KeyboardInterrupt after the first POST. The object may exist. name is its name."""

    def __init__(self, name: str):
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"interrupted. The object {self.name} may exist"


@dataclass(frozen=True)
class Result:
    """outcome is "created", or "exists" if the object was there. manifest is the server's object."""

    outcome: Literal["created", "exists"]
    name: str
    manifest: Object


class _TimeOver(Exception):
    pass


def context_namespace(config_file: Optional[str] = None, context: Optional[str] = None) -> str:
    """Returns the namespace that kubectl uses with this kubeconfig: the context's, else in a Pod the Pod's, else "default"."""
    try:
        contexts, active = kubernetes.config.list_kube_config_contexts(config_file)
    except kubernetes.config.ConfigException:
        if config_file is not None:
            raise
        return _pod_namespace()
    found = [c for c in contexts if c["name"] == context] if context else [active]
    if not found:
        raise ValueError(f"the kubeconfig has no context {context}")
    return (found[0].get("context") or {}).get("namespace") or _pod_namespace()


def _pod_namespace() -> str:
    """Returns the namespace that kubectl uses if the context has none."""
    in_pod = os.environ.get("KUBERNETES_SERVICE_HOST") and os.environ.get("KUBERNETES_SERVICE_PORT")
    if not in_pod or not (SERVICE_ACCOUNT / "token").is_file():
        return "default"
    file = SERVICE_ACCOUNT / "namespace"
    return os.environ.get("POD_NAMESPACE") or (file.read_text("utf-8").strip() if file.exists() else "") or "default"


def create_once(client: ApiClient, manifest: Any, key: str, secret: Optional[str] = None,
                timeout: float = 120.0, namespace: Optional[str] = None) -> Result:
    """Creates the object once, or finds the object that an earlier call has created.

    manifest is a dict or an object of the package kubernetes, such as V1Job. It has an apiVersion, a kind and a
    generateName, and no name. The key names the piece of work, such as "prod-migrate-4f2a9c1". With a secret, users
    who can't read the secret can't create the object first. A key and a secret belong to one cluster. timeout is the
    time of the whole call in seconds.

    namespace is for a manifest without one. kubectl uses the namespace of the kubeconfig's context, so pass
    context_namespace(). Another namespace is another object.

    Raises TypeError and ValueError for unusable arguments before it sends a POST, and Failed, Mismatch, Unknown or
    Interrupted.
    """
    for name, value in (("key", key), ("secret", secret), ("namespace", namespace)):
        if not isinstance(value, str) and (value is not None or name == "key"):
            raise TypeError(f"the {name} is a {type(value).__name__}, and must be a str")
    if not timeout >= 0:  # NaN too, with which the call would never end
        raise ValueError(f"the timeout is {timeout}, and must be 0 or more")
    derive.check_secret(secret)
    derive.check_key(key)
    return _Create(client, _decoded(client, manifest), key, secret, timeout, namespace or "").run()


def _decoded(client: ApiClient, manifest: Any) -> Object:
    """Returns a copy of the manifest as JSON values. Raises TypeError or ValueError for an unusable one."""
    try:
        plain = client.sanitize_for_serialization(manifest)  # typed objects and times
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the manifest has text that is not Unicode") from None
    except (AttributeError, TypeError, RecursionError) as error:
        raise TypeError(f"the manifest is a {type(manifest).__name__} that is not JSON: {error}") from None
    copied = json.loads(text)
    if not isinstance(copied, dict):
        raise TypeError(f"the manifest is a {type(manifest).__name__}, and must be a dict or an object of kubernetes")
    metadata = findings.mapping(copied.get("metadata"))
    for where, value in (("apiVersion", copied.get("apiVersion")), ("kind", copied.get("kind")),
                         ("metadata.generateName", metadata.get("generateName"))):
        if not isinstance(value, str) or not value:
            raise ValueError(f"the object needs {where}, which is a text")
    if copied["apiVersion"].count("/") > 1:
        raise ValueError(f"the object has the apiVersion {copied['apiVersion']}")
    if metadata.get("name"):
        raise ValueError("the object has a metadata.name, and must have only a generateName")
    if not isinstance(metadata.get("namespace") or "", str):
        raise ValueError("metadata.namespace of the object is no text")
    for field in ("labels", "annotations"):
        if not isinstance(metadata.get(field) or {}, dict):
            raise ValueError(f"metadata.{field} of the object is no map")
    return copied


class _Create:
    """One call of create_once."""

    def __init__(self, client: ApiClient, manifest: Object, key: str, secret: Optional[str], timeout: float,
                 namespace: str):
        self.client, self.manifest, self.key, self.secret, self.namespace = client, manifest, key, secret, namespace
        self.last_get = min(5.0, timeout / 5)  # seconds for the GET after the time is over
        self.deadline = time.monotonic() + timeout
        self.pauses = 0
        self.unauthorized = False  # there was a 401
        self.in_doubt = False  # the response of a POST was lost, so the object may be stored
        self.reached = False  # a POST may have reached the server
        self.conflict = False  # an object had the name, perhaps ours
        self.others = 0  # responses about other objects
        self.unserved = False  # the server doesn't serve the type, by its response to a POST

    def run(self) -> Result:
        try:
            self.locate()
        except _TimeOver as over:
            raise Failed("", f"the time is over. The last response: {over}") from None
        except RecursionError:
            raise ValueError("the manifest is nested too deeply") from None
        try:
            return self.settle()
        except KeyboardInterrupt:
            if not self.reached:
                raise
            raise Interrupted(self.name) from None
        except OnceError:
            raise
        except Exception as error:  # a defect. It must not hide that the object may exist.
            raise Unknown(self.name, f"{type(error).__name__}: {error}") from error

    def locate(self) -> None:
        """Finds the resource of the kind, and derives ID, name and digest."""
        group, _, version = self.manifest["apiVersion"].rpartition("/")
        root = "/" + "/".join(quote(part, safe="") for part in (("apis", group, version) if group else ("api", version)))
        while True:
            response = self.request("GET", root)
            body = findings.mapping(response.body)
            if response.status == 200 and body.get("kind") == "APIResourceList":
                break
            if response.status in (403, 404) or response.status == 401 and self.unauthorized:
                raise Failed("", f"{self.manifest['apiVersion']} can't be found: {message_of(response)}")
            self.unauthorized = self.unauthorized or response.status == 401
            self.pause(response)
        kind, found = self.manifest["kind"], body.get("resources")
        types = [t for t in map(findings.mapping, found if isinstance(found, list) else ())
                 if t.get("kind") == kind and "/" not in (findings.text(t.get("name")) or "/")]
        if not types:
            raise Failed("", f"the server has no kind {kind} in {self.manifest['apiVersion']}")
        self.derive(group, bool(types[0].get("namespaced")))
        place = ["namespaces", self.sent.namespace] if self.sent.namespace else []
        self.path = "/".join([root, *(quote(part, safe="") for part in [*place, types[0]["name"]])])

    def derive(self, group: str, namespaced: bool) -> None:
        metadata, kind = self.manifest["metadata"], self.manifest["kind"]
        namespace = (metadata.pop("namespace", None) or self.namespace) if namespaced else ""
        if namespaced and not namespace:
            raise ValueError("the manifest has no namespace. Pass namespace=context_namespace() for that of kubectl")
        if namespace:
            metadata["namespace"] = namespace
        prefix = metadata["generateName"]
        creation = derive.derive_id(self.secret, ("key", self.key), group, kind, namespace, "generateName", prefix)
        self.digest = derive.derive_digest(self.secret, creation, self.manifest)
        self.name = metadata["name"] = derive.derive_name(self.secret, creation, prefix)
        annotations = {**(metadata.get("annotations") or {}), ID_ANNOTATION: creation}
        annotations.pop(DIGEST_ANNOTATION, None)
        if self.digest:
            annotations[DIGEST_ANNOTATION] = self.digest
        metadata["annotations"] = annotations
        self.sent = findings.Sent(self.name, namespace, group, kind, creation)

    def settle(self) -> Result:
        """Sends POSTs until the outcome is known."""
        try:
            while True:
                reached, self.reached = self.reached, True  # an interrupt can come before the response
                response = self.request("POST", self.path, self.manifest)
                self.reached = reached or response.sent
                finding = self.of_post(response)
                if finding == "stored":
                    return Result("created", self.name, response.body)
                if finding == "renamed":
                    other = findings.name_of(response)
                    raise self.error(f"a webhook or policy changed the name {self.name} to {other}")
                if finding in ("not stored", "unauthorized"):
                    self.pause(response)
                    continue
                found = self.look(finding, response)
                if found:
                    return found
        except _TimeOver as over:
            return self.end(str(over))

    def of_post(self, response: Response) -> str:
        """Returns the finding, and keeps what follows from it for later responses."""
        finding, other = findings.of_post(self.sent, response)
        log.debug("POST of %s: HTTP %d, %s", self.name, response.status, finding)
        self.unserved = findings.is_not_served(response)
        self.others += other
        if self.others == MOST_OTHERS:
            raise Unknown(self.name, "the server responds about other objects")
        if finding == "unauthorized" and self.unauthorized:
            finding = "rejected"
        self.unauthorized = self.unauthorized or finding == "unauthorized"
        self.in_doubt = self.in_doubt or finding == "lost"
        self.conflict = self.conflict or finding == "conflict"
        return finding

    def look(self, finding: str, posted: Response) -> Optional[Result]:
        """Reads the object after a POST that did not store it for certain. None: POST again."""
        refused = finding in RECHECKS and not self.in_doubt
        if finding in RECHECKS and self.in_doubt:
            self.pause(posted)
        rechecks: List[int] = list(RECHECKS.get(finding, []))
        while True:
            response = self.get()
            found = findings.of_get(self.sent, response, self.unserved)
            if found in ("ours", "foreign", "unclear"):
                return self.held(found, response)
            if found == "absent" and not refused:
                self.pause(posted)
                return None
            if found == "absent":
                if not rechecks:
                    raise Failed(self.name, message_of(posted))
                self.wait(rechecks.pop(0), message_of(posted))
            elif found == "no permission":
                failed = refused and finding == "rejected"
                raise (Failed if failed else Unknown)(
                    self.name, f"{message_of(posted)}. The object can't be read: {message_of(response)}")
            else:
                self.pause(response)

    def held(self, found: str, response: Response) -> Result:
        """Returns the result for an object that has the name."""
        if found == "unclear":
            raise Unknown(self.name, f"{self.name} exists without the annotation {ID_ANNOTATION}")
        if found == "foreign":
            raise self.error(f"{self.name} is another client's object")
        digest = findings.text(findings.annotations_of(response).get(DIGEST_ANNOTATION))
        comparable = digest and self.digest and digest.split("-")[0] == self.digest.split("-")[0]
        if comparable and digest != self.digest:
            raise (Unknown if self.in_doubt else Mismatch)(
                self.name, f"the key was used for other content. The object is {self.name}")
        return Result("exists", self.name, response.body)

    def error(self, text: str) -> OnceError:
        return (Unknown if self.in_doubt else Failed)(self.name, text)

    def end(self, last: str) -> Result:
        """Ends the create when its time is over. If no response was lost, one GET can show that nothing is stored."""
        text = f"the time is over. The last response: {last}"
        if not self.reached:
            raise Failed("", text)
        if not self.in_doubt:
            response = self.get()
            found = findings.of_get(self.sent, response, self.unserved)
            if found in ("ours", "foreign", "unclear"):
                return self.held(found, response)
            if found == "absent" and not self.conflict:
                raise Failed(self.name, text)
        raise Unknown(self.name, text)

    def pause(self, response: Response) -> None:
        self.pauses = min(self.pauses + 1, 10)
        self.wait(max(response.retry_after, min(5.0, 0.025 * 2**self.pauses) * random.uniform(1, 1.5)),
                  message_of(response))

    def wait(self, seconds: float, last: str) -> None:
        """Waits, or raises _TimeOver if no time is left for another request."""
        if time.monotonic() + seconds >= self.deadline - self.last_get:
            raise _TimeOver(last)
        time.sleep(seconds)

    def limit(self) -> float:
        return max(0.1, min(REQUEST_LIMIT, self.deadline - self.last_get - time.monotonic()))

    def get(self) -> Response:
        """Reads the object. A GET has at least the time that no POST uses up."""
        limit = max(self.limit(), min(self.last_get, self.deadline - time.monotonic()))
        return send(self.client, "GET", f"{self.path}/{quote(self.name, safe='')}", None, limit)

    def request(self, method: str, path: str, body: Optional[Object] = None) -> Response:
        return send(self.client, method, path, body, self.limit())
