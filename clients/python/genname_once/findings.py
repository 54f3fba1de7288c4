"""What the responses mean: the findings of the specification. It sends nothing."""

import re
from dataclasses import dataclass
from typing import Any, Dict, Tuple

from .derive import ID_ANNOTATION
from .transport import Response

TOO_LARGE = ("etcdserver: request is too large", "etcdserver: mvcc: database space exceeded",
             "rpc error: code = ResourceExhausted desc = trying to send message larger than max (")
UNPERMITTED = re.compile(r'[^"]* is forbidden: User "[^"]*" cannot create resource "')
FORBIDDEN = re.compile(r' is forbidden: violates PodSecurity "'
                       r"| is forbidden: unable to create new content in namespace \S+ because it is being terminated$")
IN_USE = re.compile("allocat|already|in use", re.I)
NOT_SERVED = "404 page not found"


@dataclass(frozen=True)
class Sent:
    """The object that was sent. namespace is empty for a cluster-scoped type."""

    name: str
    namespace: str
    group: str
    kind: str
    id: str


def mapping(value: Any) -> Dict[str, Any]:
    """Returns value if it is a map, and an empty map otherwise. A response can have any shape."""
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def status_of(response: Response) -> Dict[str, Any]:
    """Returns the Status in a response, or an empty map."""
    body = mapping(response.body)
    return body if body.get("kind") == "Status" else {}


def message_of(response: Response) -> str:
    """Returns a text for a person."""
    return _message(response) or response.text or f"HTTP {response.status}"


def name_of(response: Response) -> str:
    """Returns the name of the object in a response."""
    return text(mapping(mapping(response.body).get("metadata")).get("name"))


def annotations_of(response: Response) -> Dict[str, Any]:
    return mapping(mapping(mapping(response.body).get("metadata")).get("annotations"))


def _message(response: Response) -> str:
    return text(status_of(response).get("message"))


def of_post(sent: Sent, response: Response) -> Tuple[str, bool]:
    """Returns the finding for the response to a POST, and whether the response is about another object."""
    if not response.sent:
        return "not stored", False
    if 200 <= response.status < 300:
        return _of_object(sent, response)
    finding = _of_refusal(response)
    denied = _denied_by_admission(_message(response))
    if finding in ("conflict", "rejected", "denied", "unauthorized") and not denied and response.status != 404 \
            and _about_another(sent, response):
        return "lost", True
    return finding, False


def _of_object(sent: Sent, response: Response) -> Tuple[str, bool]:
    name, held = name_of(response), annotations_of(response).get(ID_ANNOTATION)
    if not name:
        return "lost", False
    if _is_here(sent, response):
        if name == sent.name and held in (None, "", sent.id):
            return "stored", False
        if held == sent.id:
            return "renamed", False
    return "lost", True


def _of_refusal(response: Response) -> str:
    status, message, found = response.status, _message(response), status_of(response)
    if status == 409 and found.get("reason") == "AlreadyExists" and not _denied_by_admission(message):
        return "conflict"
    if status == 429 or (status == 409 and mapping(found.get("details")).get("kind") == "resourcequotas") \
            or (status == 503 and message == "apiserver is shutting down") \
            or (status == 500 and message.startswith("Internal error occurred: failed calling webhook ")):
        return "not stored"
    if message.startswith(TOO_LARGE):
        return "rejected"
    if not 400 <= status < 500 or status in (408, 499):
        return "lost"
    if _denied_by_admission(message):
        return "denied"
    if status == 401:
        return "unauthorized"
    return "rejected" if _cannot_be_a_copys(status, message, found) else "denied"


def _denied_by_admission(message: str) -> bool:
    return message.startswith("admission webhook ") or " denied request: " in message


def _cannot_be_a_copys(status: int, message: str, found: Dict[str, Any]) -> bool:
    """Reports whether an earlier copy of the POST can't have caused the refusal."""
    if status == 403:
        return bool(UNPERMITTED.match(message) or FORBIDDEN.search(message))
    if status == 422:
        causes = mapping(found.get("details")).get("causes")
        return isinstance(causes, list) and bool(causes) and all(map(_about_a_field, causes))
    return status in (400, 404, 405, 413, 415)


def _about_a_field(cause: Any) -> bool:
    reason, message = text(mapping(cause).get("reason")), text(mapping(cause).get("message"))
    return reason.startswith("FieldValue") and reason != "FieldValueDuplicate" and not IN_USE.search(message)


def of_get(sent: Sent, response: Response, unserved: bool = False) -> str:
    """Returns the finding for the response to a GET. unserved: the POST got 404 page not found."""
    if response.status == 200 and name_of(response) == sent.name and _is_here(sent, response):
        held = annotations_of(response).get(ID_ANNOTATION)
        return "ours" if held == sent.id else "foreign" if held else "unclear"
    reason = status_of(response).get("reason")
    if response.status == 404 and reason == "NotFound" and not _about_another(sent, response):
        return "absent"
    if is_not_served(response) and (response.audited or unserved):
        return "absent"
    if (response.status, reason) in ((403, "Forbidden"), (405, "MethodNotAllowed")):
        return "no permission"
    return "unread"


def is_not_served(response: Response) -> bool:
    """Reports whether the response is the text that kube-apiserver sends for a path that it doesn't serve."""
    return response.status == 404 and response.text == NOT_SERVED


def _is_here(sent: Sent, response: Response) -> bool:
    body = mapping(response.body)
    group, _, version = text(body.get("apiVersion")).rpartition("/")
    namespace = mapping(body.get("metadata")).get("namespace")
    return (group, body.get("kind")) == (sent.group, sent.kind) and bool(version) \
        and namespace in (None, "", sent.namespace)


def _about_another(sent: Sent, response: Response) -> bool:
    details = mapping(status_of(response).get("details"))
    name = details.get("name")
    if not name or name == sent.name:
        return False
    return not (details.get("kind") == "namespaces" and sent.namespace and name == sent.namespace)
