"""Computes docs/spec/vectors.json again from the text of the specification, with nothing of the Go
code, and compares each value. Usage: python3 vectors.py docs/spec/vectors.json"""
import base64, hashlib, hmac, json, sys

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
LEFT_OUT = ("name generateName namespace uid resourceVersion generation creationTimestamp deletionTimestamp "
            "deletionGracePeriodSeconds managedFields selfLink").split()
TOOLS = ("kubectl.kubernetes.io/last-applied-configuration", "kubernetes.io/change-cause")


class NoDigest(Exception):
    pass


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def encode(label, *parts):
    encoded = [part if isinstance(part, bytes) else part.encode("utf8") for part in parts]
    return label.encode() + b"\0" + b"".join(len(part).to_bytes(8, "big") + part for part in encoded)


def prf(prk, label, *parts):
    return mac(prk, encode(label, *parts))


def name_of(prk, id, generate_name):
    n = int.from_bytes(prf(prk, "name", id, generate_name, "0", "10")[:16], "big")
    suffix = ""
    for _ in range(10):
        n, digit = divmod(n, 27)
        suffix += ALPHABET[digit]
    return generate_name.encode("utf8")[:53].decode("utf8", "ignore") + suffix


def without_null(value):
    if isinstance(value, dict):
        return {k: without_null(v) for k, v in value.items() if v is not None}
    return [without_null(v) for v in value] if isinstance(value, list) else value


def content_of(v):
    content = {k: m for k, m in without_null(v["object"]).items() if k not in ("apiVersion", "kind", "status")}
    if (v["group"], v["kind"]) == ("", "Secret"):
        data = dict(content.pop("data", {}))
        for key, text in content.pop("stringData", {}).items():
            data[key] = base64.b64encode(text.encode("utf8")).decode()
        if v["secret"] and data:
            content["data"] = data
    metadata = {k: m for k, m in content.pop("metadata", {}).items() if k not in LEFT_OUT}
    for field in ("labels", "annotations"):
        entries = {k: e for k, e in metadata.pop(field, {}).items() if not k.startswith("genname.dev/") and k not in TOOLS}
        metadata.update({field: entries} if entries else {})
    return {**content, "metadata": metadata} if metadata else content


def canonical(value):
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda m: m[0].encode("utf-16-be"))
        return "{" + ",".join(canonical(k) + ":" + canonical(m) for k, m in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value != int(value) or abs(value) >= 2**53:
            raise NoDigest
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def derive(v):
    prk, tag = mac(b"genname.dev/v1", (v["secret"] or "").encode()), "v1s-" if v["secret"] else "v1-"
    d, n = str(v["d"]), str(v["n"])
    parts = [v["source"], *v["who"], v["group"], v["kind"], v["namespace"], v["form"], v["value"], d, n]
    id = tag + prf(prk, "id", *parts)[:16].hex() + "-" + d + "-" + n
    public = mac(b"genname.dev/v1", b"")
    result = {
        "prk_hex": prk.hex(), "id_input_hex": encode("id", *parts).hex(), "id": id, "canonical": None, "digest": None,
        "name": name_of(prk, id, v["value"]) if v["form"] == "generateName" else v["value"],
        "label": "v1-" + prf(public, "run", v["who"][0])[:16].hex() if v["source"] == "key" else None,
    }
    try:
        result["canonical"] = canonical(content_of(v))
        result["digest"] = "d" + tag[1:] + prf(prk, "digest", id, result["canonical"])[:16].hex()
    except NoDigest:
        pass
    return result


vectors = json.load(open(sys.argv[1], encoding="utf8"))
wrong = [(v["comment"], k, want, v[k]) for v in vectors for k, want in derive(v).items() if v[k] != want]
for comment, field, want, got in wrong:
    print(f"{comment}: {field} is {got!r}, and this program computes {want!r}")
sys.exit(f"{len(wrong)} values differ" if wrong or not vectors else 0)
