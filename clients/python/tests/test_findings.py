"""Reads the responses of docs/spec/findings.json."""

import json
import pathlib
import unittest

from genname_once import findings, transport

FINDINGS = pathlib.Path(__file__).parents[3] / "docs" / "spec" / "findings.json"
SENT = findings.Sent("once-bcdfghjklm", "default", "", "ConfigMap", "v1-00112233445566778899aabbccddeeff-0-0")


class TestFindings(unittest.TestCase):
    def test_all(self) -> None:
        vectors = json.loads(FINDINGS.read_text("utf-8"))
        self.assertGreater(len(vectors), 80)
        for v in vectors:
            with self.subTest(v["request"] + ": " + v["comment"]):
                response = transport._response(v["status"], {}, v["body"].encode())
                if v["request"] == "POST":
                    found, _ = findings.of_post(SENT, response)
                else:
                    found = findings.of_get(SENT, response, v["notServed"])
                self.assertEqual(v["finding"], found)


if __name__ == "__main__":
    unittest.main()
