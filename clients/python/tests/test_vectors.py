"""Derives docs/spec/vectors.json with the client's code."""

import hashlib
import hmac
import json
import pathlib
import unittest
from typing import Optional

from genname_once import derive, read_manifest

VECTORS = pathlib.Path(__file__).parents[3] / "docs" / "spec" / "vectors.json"


class TestVectors(unittest.TestCase):
    def test_all(self) -> None:
        vectors = json.loads(VECTORS.read_text("utf-8"))
        self.assertGreater(len(vectors), 50)
        for v in vectors:
            with self.subTest(v["comment"], secret=bool(v["secret"])):
                self.check(v)

    def check(self, v: derive.Object) -> None:
        secret = v["secret"]
        group = v["apiVersion"].rpartition("/")[0]
        prk = hmac.new(b"genname.dev/v1", (secret or "").encode(), hashlib.sha256).hexdigest()
        self.assertEqual(v["prk_hex"], prk)
        manifest = {"apiVersion": v["apiVersion"], "kind": v["kind"], **(v["object"] or {})}
        if v["source"] == "content":
            digest = self.digest_of_key(v, manifest)
            self.assertEqual((v["digest"], v["who"][1]), (digest, digest or ""))
            if digest is None:
                self.assertEqual(("", ""), (v["id"], v["name"]))
                return
        found = derive.derive_id(secret, (v["source"], *v["who"]), group, v["kind"], v["namespace"],
                                 v["form"], v["value"], v["d"], v["n"])
        self.assertEqual(v["id"], found)
        if v["form"] == "generateName":
            self.assertEqual(v["name"], derive.derive_name(secret, found, v["value"]))
        if v["yaml"]:
            self.assertEqual(v["object"], read_manifest(v["yaml"]))
        if v["source"] != "content":
            self.assertEqual(v["digest"], derive.derive_digest(secret, found, manifest))
        if v["canonical"] is not None:
            self.assertEqual(v["canonical"], derive.canonical(manifest, bool(secret)))

    def digest_of_key(self, v: derive.Object, manifest: derive.Object) -> Optional[str]:
        """Level 2 has the digest of a content, which the client doesn't need."""
        secret = v["secret"]
        if (v["apiVersion"], v["kind"]) == ("v1", "Secret") and not secret:
            return None
        body = bytes.fromhex(v.get("body_hex", ""))
        try:
            content = body or derive.canonical(manifest, bool(secret)).encode()
        except OverflowError:
            return None
        parts = [b"content", v["who"][0].encode(), content]
        message = b"digest\0" + b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        value = hmac.new(bytes.fromhex(v["prk_hex"]), message, hashlib.sha256).hexdigest()
        return ("d1s-" if secret else "d1-") + value[:32]


class TestArguments(unittest.TestCase):
    def test_unusable_secrets(self) -> None:
        for secret in ("", "short", "a" * 31, "a" * 1025, "a" * 31 + "\n", "a" * 31 + " ", "é" * 32):
            with self.assertRaises(ValueError) as caught:
                derive.check_secret(secret)
            if secret:
                self.assertNotIn(secret, str(caught.exception))
        derive.check_secret(None)
        derive.check_secret("a" * 32)

    def test_keys_with_an_empty_variable(self) -> None:
        for key in ("", "migrate-", "-1", " a", "a\n", "a:", "a/", "https:///", "\u00a0a", "a\udcff"):
            with self.assertRaises(ValueError, msg=repr(key)):
                derive.check_key(key)
        for key in ("prod-migrate-4f2a9c1", "https://ci.example.com/runs/17/", "bGFzdA=="):
            derive.check_key(key)

    def test_text_that_kubectl_reads_differently(self) -> None:
        for text in ("a: [b:, c]", "a: [b:]", "{1e39: a}", "{1e-50: a}", "a: &a [*a]", "a: " + "[" * 9999, '{"a": ' + "[" * 9999):
            with self.assertRaises(ValueError, msg=text):
                read_manifest(text)
        self.assertEqual({"a": ["b:c", {"d": [1]}, {"e": 2}]}, read_manifest("a: [b:c, {\"d\":[1]}, e: 2]"))


if __name__ == "__main__":
    unittest.main()
