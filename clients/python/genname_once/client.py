"""The requests of level 1: what to send, and what each response means."""

import copy
import json
import random
import re
import time
from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence

from kubernetes.client import ApiClient

from . import derive
from .derive import DIGEST_ANNOTATION, ID_ANNOTATION, Object
from .transport import send

BY_ETCD = ("etcdserver: request is too large", "etcdserver: mvcc: database space exceeded",
           "rpc error: code = ResourceExhausted desc = trying to send message larger than max (")
RECHECKS = {"rejected": (0,), "denied": (0, 1, 3, 9)}  # seconds before each GET after a refusal


class OnceError(Exception):
    """A create that did not succeed. name is the object's name, or "" if it isn't known."""

    def __init__(self, name: str, text: str):
        super().__init__(text)
        self.name = name


class Failed(OnceError):
    """The object was not created, and this key's object does not exist."""


class Mismatch(OnceError):
    """The object of this key exists, and was created with other content."""


class Unknown(OnceError):
    """The object may exist. Call create_once again with the same key and secret."""


@dataclass(frozen=True)
class Result:
    """outcome is "created", or "exists" if the object was there. manifest is the server's object."""

    outcome: str
    name: str
    manifest: Object


@dataclass(frozen=True)
class _Response:
    status: int  # 0: there was no response
    body: Object  # {} if it isn't a JSON object
    retry_after: float = 0
    text: str = ""
    sent: bool = True

    @property
    def reason(self) -> str:
        return self.body.get("reason", "") if self.body.get("kind") == "Status" else ""

    @property
    def message(self) -> str:
        return str(self.body.get("message") or self.text or self.status)

    def details(self, field: str) -> Any:
        details = self.body.get("details") if self.reason else None
        return (details or {}).get(field)


def create_once(client: ApiClient, manifest: Object, key: str, secret: Optional[str] = None,
                timeout: float = 120.0) -> Result:
    """Creates the object once, or finds the object that an earlier call has created.

    manifest has a generateName and no name. The key names the piece of work, such as
    "prod-migrate-4f2a9c1". With a secret, users who can't read the secret can't create the
    object first. A key and a secret belong to one cluster. timeout is in seconds. The last
    requests can end up to 30 seconds after it.

    Raises ValueError for unusable arguments, Failed, Mismatch, and Unknown.
    """
    derive.check_secret(secret)
    derive.check_key(key)
    metadata = manifest.get("metadata", {})
    if not metadata.get("generateName") or metadata.get("name"):
        raise ValueError("the object needs a metadata.generateName, and no metadata.name")
    return _Create(client, copy.deepcopy(manifest), key, secret, time.monotonic() + timeout).run()


class _Create:
    name = ""
    in_doubt = False  # the response of a POST was lost, so the object may be stored
    unsettled = False  # no read has shown whether the last POST stored the object
    unauthorized = False
    others = 0  # responses about other objects

    def __init__(self, client: ApiClient, manifest: Object, key: str, secret: Optional[str], deadline: float):
        self.client, self.manifest, self.key, self.secret = client, manifest, key, secret
        self.deadline, self.pauses = deadline, 0

    def run(self) -> Result:
        self.locate()
        while True:
            response = self.request("POST", self.path, self.manifest)
            finding = self.of_post(response)
            self.unsettled = finding not in ("not stored", "unauthorized")
            if finding == "stored":
                return Result("created", self.name, response.body)
            if finding == "unauthorized" and self.unauthorized:
                finding = "rejected"
            if finding in ("not stored", "unauthorized"):
                self.unauthorized = self.unauthorized or finding == "unauthorized"
                self.pause(response)
                continue
            self.in_doubt = self.in_doubt or finding == "lost"
            refusal = response if finding in RECHECKS else None
            found = self.look(response, RECHECKS.get(finding, (0,)), refusal)
            if found:
                return found

    def locate(self) -> None:
        """Finds the resource of the kind, and derives ID, name and digest."""
        group, _, version = self.manifest.get("apiVersion", "").rpartition("/")
        root = f"/apis/{group}/{version}" if group else f"/api/{version}"
        while True:
            response = self.request("GET", root)
            if response.body.get("kind") == "APIResourceList":
                break
            if response.reason in ("NotFound", "Forbidden"):
                raise Failed("", response.message)
            self.pause(response)
        kind = self.manifest.get("kind", "")
        found = [r for r in response.body["resources"] if r["kind"] == kind and "/" not in r["name"]]
        if not found:
            raise Failed("", f"the server has no kind {kind} in {self.manifest.get('apiVersion')}")
        metadata = self.manifest["metadata"]
        self.namespace = metadata.setdefault("namespace", "default") if found[0]["namespaced"] else ""
        self.path = root + (f"/namespaces/{self.namespace}" if self.namespace else "") + "/" + found[0]["name"]
        prefix = metadata["generateName"]
        self.id = derive.derive_id(self.secret, ("key", self.key), group, kind, self.namespace,
                                   "generateName", prefix)
        self.digest = derive.derive_digest(self.secret, self.id, self.manifest)
        self.name = metadata["name"] = derive.derive_name(self.secret, self.id, prefix)
        annotations = {k: v for k, v in (metadata.get("annotations") or {}).items() if k != DIGEST_ANNOTATION}
        metadata["annotations"] = {**annotations, ID_ANNOTATION: self.id}
        if self.digest:
            metadata["annotations"][DIGEST_ANNOTATION] = self.digest

    def of_post(self, response: _Response) -> str:
        """Returns what the response to a POST means."""
        if not response.sent:
            return "not stored"
        metadata = response.body.get("metadata") or {}
        if 200 <= response.status < 300 and metadata.get("name"):
            held = (metadata.get("annotations") or {}).get(ID_ANNOTATION)
            if metadata["name"] == self.name and held in (None, self.id):
                return "stored"
            if held == self.id:
                error = Unknown if self.in_doubt else Failed
                raise error(metadata["name"], f"a webhook or policy changed the name to {metadata['name']}")
            return self.other()
        return self.of_refusal(response)

    def of_refusal(self, response: _Response) -> str:
        status, reason, message = response.status, response.reason, response.message
        admission = message.startswith("admission webhook ") or " denied request: " in message
        about = response.details("name") or self.name
        known = about in (self.name, self.namespace) or response.details("kind") == "resourcequotas"
        if not known and status != 404 and not admission:
            return self.other()
        if reason == "AlreadyExists" and not admission:
            return "conflict"
        if status == 429 or (reason == "Conflict" and response.details("kind") == "resourcequotas") \
                or message == "apiserver is shutting down" \
                or message.startswith("Internal error occurred: failed calling webhook "):
            return "not stored"
        if message.startswith(BY_ETCD):
            return "rejected"
        if not 400 <= status < 500 or status in (408, 499):
            return "lost"
        if status == 401 and not admission:
            return "unauthorized"
        rbac = status == 403 and re.match(r'[^"]* is forbidden: User "[^"]*" cannot create resource "', message)
        if not admission and (status in (400, 404, 405, 413, 415) or rbac):
            return "rejected"
        return "denied"

    def other(self) -> str:
        """Counts a response about another object. It proves nothing about ours."""
        self.others += 1
        if self.others == 3:
            raise Unknown(self.name, "the server responds about other objects")
        return "lost"

    def look(self, posted: _Response, rechecks: Sequence[int], refusal: Optional[_Response]) -> Optional[Result]:
        """Reads the object after a POST that did not store it for certain. None: POST again."""
        after = list(rechecks)
        time.sleep(after.pop(0))
        while True:
            response = self.request("GET", f"{self.path}/{self.name}")
            metadata = response.body.get("metadata") or {}
            if response.status == 200 and metadata.get("name") == self.name:
                return self.found(response.body, metadata.get("annotations") or {})
            about = response.details("name") or self.name
            if response.reason == "NotFound" and response.status == 404 and about in (self.name, self.namespace):
                if not refusal or self.in_doubt:
                    return self.pause(posted)
                if not after:
                    raise Failed(self.name, refusal.message)
                time.sleep(after.pop(0))
            elif response.reason in ("Forbidden", "MethodNotAllowed"):
                if refusal and not self.in_doubt:
                    raise Failed(self.name, refusal.message + " (and the object can't be read)")
                raise Unknown(self.name, "the object can't be read: " + response.message)
            else:
                self.pause(response)

    def found(self, body: Object, annotations: Dict[str, str]) -> Result:
        held, digest = annotations.get(ID_ANNOTATION), annotations.get(DIGEST_ANNOTATION)
        if held is None:
            raise Unknown(self.name, f"{self.name} exists without the annotation {ID_ANNOTATION}")
        if held != self.id:
            raise (Unknown if self.in_doubt else Failed)(self.name, f"{self.name} is another client's object")
        comparable = digest and self.digest and digest.split("-")[0] == self.digest.split("-")[0]
        if comparable and digest != self.digest:
            raise (Unknown if self.in_doubt else Mismatch)(
                self.name, f"the key was used for other content. The object is {self.name}")
        return Result("exists", self.name, body)

    def pause(self, response: _Response) -> None:
        """Waits before the next request, or ends the create if no time is left."""
        self.pauses += 1
        seconds = max(response.retry_after, min(5.0, 0.05 * 2**self.pauses) * random.uniform(0.5, 1))
        if time.monotonic() + seconds < self.deadline:
            return time.sleep(seconds)
        text = "the time is over. The last response: " + response.message
        raise (Unknown if self.in_doubt or self.unsettled or not self.name else Failed)(self.name, text)

    def request(self, method: str, path: str, body: Optional[Object] = None) -> _Response:
        """Sends one request, and returns its response, whatever it is."""
        limit = min(30.0, max(5.0, self.deadline - time.monotonic()))
        response = send(self.client, method, path, body, limit)
        decoded = response.body if isinstance(response.body, dict) else {}
        return _Response(response.status, decoded, response.retry_after, response.text, response.sent)
