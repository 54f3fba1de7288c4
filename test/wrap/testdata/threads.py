"""Creates ConfigMaps with ten threads: python3 threads.py NUMBER. Two of them are equal each time."""

import base64
import concurrent.futures
import http.client
import json
import ssl
import subprocess
import sys
import threading
import urllib.parse

config = json.loads(subprocess.check_output(["kubectl", "config", "view", "--raw", "--minify", "-o", "json"]))
cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
namespace = config["contexts"][0]["context"]["namespace"]
server = urllib.parse.urlsplit(cluster["server"])
tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
tls.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python 3.13
own = threading.local()


def create(number: int) -> str:
    if not hasattr(own, "connection"):
        own.connection = http.client.HTTPSConnection(server.netloc, context=tls)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "thread-"},
                "data": {"number": str(number // 2)}}
    own.connection.request("POST", f"{server.path}/api/v1/namespaces/{namespace}/configmaps", json.dumps(manifest),
                           {"Authorization": "Bearer " + user["token"], "Content-Type": "application/json"})
    response = own.connection.getresponse()
    body = json.loads(response.read())
    if response.status != 201 or body["data"] != manifest["data"]:
        raise SystemExit(f"{response.status}: {body}")
    print(body["metadata"]["name"], flush=True)
    return body["metadata"]["name"]


with concurrent.futures.ThreadPoolExecutor(10) as threads:
    names = set(threads.map(create, range(int(sys.argv[1]))))
if len(names) != int(sys.argv[1]):
    raise SystemExit(f"{len(names)} objects")
