"""The derivation of the specification: ID, name and digest. It sends nothing."""

import base64
import hashlib
import hmac
import json
import math
import re
from decimal import Decimal
from typing import Any, Dict, Optional, Sequence

ID_ANNOTATION = "genname.dev/creation-id"
DIGEST_ANNOTATION = "genname.dev/creation-digest"
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
NO_CONTENT = frozenset(
    "name generateName namespace uid resourceVersion generation creationTimestamp deletionTimestamp "
    "deletionGracePeriodSeconds managedFields selfLink".split()
)
BY_KUBECTL = ("kubectl.kubernetes.io/last-applied-configuration", "kubernetes.io/change-cause")

Object = Dict[str, Any]


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def _f(secret: Optional[str], label: str, *parts: str) -> bytes:
    prk = _mac(b"genname.dev/v1", (secret or "").encode())
    data = [part.encode("utf-8") for part in parts]
    return _mac(prk, label.encode() + b"\0" + b"".join(len(part).to_bytes(8, "big") + part for part in data))


def check_secret(secret: Optional[str]) -> None:
    """Raises ValueError, without the secret in it, unless secret is None or usable."""
    if secret is not None and not re.fullmatch("[!-~]{32,1024}", secret):
        raise ValueError("the secret needs 32 to 1,024 printable ASCII characters without white space")


def check_key(key: str) -> None:
    """Raises ValueError for a key that isn't Unicode, or looks as if a variable in it was empty."""
    try:
        key.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the key is not UTF-8") from None
    parsed = re.match("https?://[^/?#]", key)
    if not key or _separates(key[0]) or (_separates(key[-1]) and not (parsed and key[-1] == "/")):
        raise ValueError("the key is empty, or begins or ends with white space or one of - _ . / : "
                         "(was a variable in it empty?)")


def _separates(character: str) -> bool:
    return character in "-_./:" or (character.isspace() and character not in "\x1c\x1d\x1e\x1f")


def derive_id(secret: Optional[str], source: Sequence[str], group: str, kind: str, namespace: str,
              form: str, value: str, document: int = 0, copied: int = 0) -> str:
    """Returns the ID: the value of the annotation genname.dev/creation-id.

    source is ("key", KEY). form and value are "generateName" and all of it, or "name" and the name.
    Level 1 has no numbers of documents and copies.
    """
    numbers = str(document), str(copied)
    value = _f(secret, "id", *source, group, kind, namespace, form, value, *numbers)[:16].hex()
    return "-".join(("v1s" if secret else "v1", value, *numbers))


def derive_name(secret: Optional[str], object_id: str, generate_name: str) -> str:
    """Returns the one name that follows from the ID."""
    number = int.from_bytes(_f(secret, "name", object_id, generate_name, "0", "10")[:16], "big")
    name = generate_name.encode("utf-8")[:53].decode("utf-8", "ignore")
    for _ in range(10):
        number, digit = divmod(number, len(ALPHABET))
        name += ALPHABET[digit]
    return name


def derive_digest(secret: Optional[str], object_id: str, manifest: Object) -> Optional[str]:
    """Returns the digest of the content, or None if the content has none."""
    try:
        value = _f(secret, "digest", object_id, canonical(manifest, bool(secret)))
    except (OverflowError, TypeError, UnicodeEncodeError):
        return None
    return ("d1s-" if secret else "d1-") + value[:16].hex()


def canonical(manifest: Object, has_secret: bool = False) -> str:
    """Returns the content as it is hashed: JSON as RFC 8785 writes it."""
    content = {k: v for k, v in _without_null(manifest).items() if k not in ("apiVersion", "kind")}
    content["status"] = _filled(content.get("status"))
    if content["status"] is None:
        del content["status"]
    if (manifest.get("apiVersion"), manifest.get("kind")) == ("v1", "Secret"):
        data = secret_data(content)
        content.pop("stringData", None)
        content.pop("data", None)
        if has_secret and data:
            content["data"] = data
    if isinstance(content.get("metadata"), dict):
        metadata = {k: v for k, v in content.pop("metadata").items() if k not in NO_CONTENT}
        for field in ("labels", "annotations"):
            if isinstance(metadata.get(field), dict):
                entries = {k: v for k, v in metadata.pop(field).items()
                           if not k.startswith("genname.dev/") and k not in BY_KUBECTL}
                if entries:
                    metadata[field] = entries
        if metadata:
            content["metadata"] = metadata
    return _canonical(content)


def secret_data(content: Object) -> Object:
    """Returns the data of a Secret as the server stores it. Values that the server refuses stay."""
    given, texts = content.get("data"), content.get("stringData")
    data = {k: _normal(v) for k, v in given.items()} if isinstance(given, dict) else {}
    for key, text in texts.items() if isinstance(texts, dict) else ():
        if isinstance(text, str):
            data[key] = base64.b64encode(text.encode("utf-8")).decode()
    return data


BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def _normal(value: Any) -> Any:
    """Returns base64 without line breaks and with zero pad bits."""
    if isinstance(value, str):
        text = value.replace("\r", "").replace("\n", "")
        if BASE64.fullmatch(text):
            return base64.b64encode(base64.b64decode(text)).decode()
    return value


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_null(v) for k, v in value.items() if v is not None}
    return [_without_null(v) for v in value] if isinstance(value, list) else value


def _filled(value: Any) -> Any:
    """Returns value without null, false, 0, "" and what is then empty. None if nothing is left."""
    if isinstance(value, dict):
        value = {k: v for k, v in ((k, _filled(v)) for k, v in value.items()) if v is not None}
    elif isinstance(value, list):
        value = [v for v in map(_filled, value) if v is not None]
    return value or None


def _canonical(value: Any) -> str:
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: str(member[0]).encode("utf-16-be"))
        return "{" + ",".join(_canonical(k) + ":" + _canonical(v) for k, v in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (int, float)):
        raise TypeError(f"{type(value).__name__} is not JSON")
    number = float(value) + 0.0  # -0.0 + 0.0 is 0.0
    if not math.isfinite(number):
        raise OverflowError("no 64-bit float is near the number")
    notation = "f" if number == 0 or 1e-6 <= abs(number) < 1e21 else "e"
    return format(Decimal(repr(number)).normalize(), notation)
