"""Overlays that the other scenarios don't use, each in a namespace of its own that goes with it."""

import json
import os
import pathlib
import re
import secrets
import signal
import subprocess
import tempfile
import time
import unittest

from support.api import Api
from support.figures import figures
from support.tier import ADMIN, HTTP, ROOT, cluster, get, is_ready, manifests
from support.traffic import ORIGIN_ADDRESS, ORIGIN_PORT, Origin
from support.waiting import wait_until

PAGES = 1200
SHARD = 20  # responses in it, above which it is cut
LOOK_ON_S = 2  # in which nothing changes


def said_by(port: int, path: str) -> tuple[int, str]:
    """What curl prints of two requests: the last status, and all Cache-Status lines."""
    url = f"http://127.0.0.1:{port}{path}"
    command = ["curl", "--silent", "--show-error", "--include", url, url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^Cache-Status: (.*?)\r?$", text, re.M | re.I)
    return int(re.findall(r"^HTTP/1.1 (\d+)", text, re.M)[-1]), "\n".join(lines)


def count_of(state: str) -> int:
    """How many shards there are."""
    return len(json.loads(state)["state"]["shards"])


class Overlay(unittest.TestCase):
    """Of k8s/overlays; `overlay` and `namespace` are a class's own."""

    overlay: str
    namespace: str

    def setUp(self) -> None:
        self.api = Api(pathlib.Path(cluster("state").strip()))
        self.addCleanup(self.api.ask, "DELETE", f"/api/v1/namespaces/{self.namespace}")

    def kubectl(self, *arguments, stdin: str | None = None) -> str:
        return cluster("ctl", f"--namespace={self.namespace}", *arguments, stdin=stdin)

    def apply(self, change) -> None:
        """The overlay as it is, but small, with the image of this tree, and with `change` done to
        each of its objects."""
        text = manifests(ROOT / "k8s/overlays" / self.overlay)
        text = text.replace("namespace: ringside\n", f"namespace: {self.namespace}\n")
        text = cluster("ctl", "create", "--dry-run=client", "--output=json", "--filename=-", stdin=text)
        decoder, objects = json.JSONDecoder(), []
        while text := text.strip():
            one, end = decoder.raw_decode(text)
            text = text[end:]
            objects += one["items"] if one["kind"] == "List" else [one]
        for one in objects:
            if one["kind"] == "Namespace":
                one["metadata"]["name"] = self.namespace
            pod = one.get("spec", {}).get("template", {}).get("spec", {})
            for container in pod.get("containers", []):
                container["image"], container["imagePullPolicy"] = "ringside:test", "Never"
                container["resources"]["requests"] = {"cpu": "10m", "memory": "32Mi"}
            change(one)
        everything = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "--filename=-", stdin=json.dumps(everything))

    def pods(self, component: str) -> list[dict]:
        label = f"labelSelector=app.kubernetes.io%2Fcomponent%3D{component}"
        return self.api.get(f"/api/v1/namespaces/{self.namespace}/pods?{label}")["items"]

    def ready(self, component: str, count: int) -> list[str]:
        """The addresses of so many pods, once all are ready and nobody else is there."""

        def all_ready() -> list[str] | None:
            pods = self.pods(component)
            ready = [pod["status"]["podIP"] for pod in pods if is_ready(pod)]
            return ready if len(ready) == len(pods) == count else None

        return wait_until(all_ready, f"{count} ready pods of {component}")


class Laptop(Overlay):
    overlay, namespace = "laptop", "ringside-laptop"

    def test_a_first_look_needs_three_commands(self) -> None:
        """docs/kubernetes.md has them, and one for more replicas."""
        begin = time.monotonic()
        self.apply(lambda one: None)
        # A port of a pod that does not run yet is not forwarded.
        self.kubectl("rollout", "status", "--timeout=2m", "deployment/ringside")
        forward = subprocess.Popen(
            [str(ROOT / "tests/kubernetes/cluster"), "ctl", f"--namespace={self.namespace}",
             "port-forward", "deployment/ringside", ":8080"],
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.addCleanup(forward.stdout.close)
        self.addCleanup(forward.wait)
        self.addCleanup(os.killpg, forward.pid, signal.SIGTERM)  # kubectl is a child of it
        port = int(re.search(r"127\.0\.0\.1:(\d+)", forward.stdout.readline())[1])
        status, said = wait_until(lambda: self._second(port), "an answer")
        figures.add("laptop", "from `apply` to a hit", time.monotonic() - begin, "s")
        self.assertEqual(status, 200)
        self.assertRegex(said.splitlines()[-1], "; hit")
        self.kubectl("exec", "deployment/ringside", "--", "ringside", "scale", "3")
        status, said = said_by(port, "/hello")
        self.assertEqual((status, len(re.findall("; hit", said))), (200, 2), said)

    @staticmethod
    def _second(port: int) -> tuple[int, str] | None:
        try:
            return said_by(port, "/hello")
        except (subprocess.CalledProcessError, IndexError):
            return None


class Shards(Overlay):
    overlay, namespace = "shards", "ringside-shards"

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="ringside-shards-")
        self.addCleanup(folder.cleanup)
        self.origin = Origin(pathlib.Path(folder.name))
        self.addCleanup(self.origin.stop)
        self.api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        for name, key in (("ringside-peer-key", "key"), ("ringside-admin-token", "token")):
            literal = f"--from-literal={key}={secrets.token_hex(32)}"
            self.kubectl("create", "secret", "generic", name, literal)

    @staticmethod
    def _make_small(one: dict) -> None:
        if one["kind"] == "StatefulSet":
            one["spec"]["replicas"] = 3
        if one["kind"] == "Deployment":
            one["spec"]["replicas"] = 2
        if one["kind"] == "ConfigMap" and "ringside.yaml" in one.get("data", {}):
            text = one["data"]["ringside.yaml"]
            text = re.sub(r"^origin: .*", f"origin: http://{ORIGIN_ADDRESS}:{ORIGIN_PORT}", text, flags=re.M)
            one["data"]["ringside.yaml"] = re.sub(
                r"^split_above: .*", f"split_above: {SHARD}", text, flags=re.M
            )

    def _ask_all(self, sidecars: list[str]) -> None:
        for number in range(PAGES):
            status, said = get(f"{sidecars[number % 2]}:{HTTP}", f"/page-{number}")
            self.assertEqual(status, 200, said)

    def _fetches(self) -> int:
        return len(self.origin.fetches(0, float("inf")))

    def _topology(self, addresses: list[str]) -> dict | None:
        """What all of them have; None: not the same."""
        told = [json.loads(get(f"{one}:{ADMIN}", "/topology")[1]) for one in addresses]
        return told[0] if len({one["id"] for one in told}) == 1 else None

    def _state(self) -> str:
        """As the ConfigMap has it; empty: not yet."""
        path = f"/api/v1/namespaces/{self.namespace}/configmaps/ringside-shards"
        return self.api.get(path).get("data", {}).get("state.json", "")

    def test_full_shards_are_cut_in_the_configmap_and_outlive_a_rolling_restart(self) -> None:
        self.apply(self._make_small)
        replicas, sidecars = self.ready("cache", 3), self.ready("sidecar", 2)
        first = wait_until(self._state, "the first shards in the ConfigMap")
        figures.add("shards", "at first", count_of(first))
        self._ask_all(sidecars)
        self.assertEqual(self._fetches(), PAGES)
        wait_until(lambda: self._state() != first, "shards to be cut")
        wait_until(lambda: self._is_settled(replicas + sidecars), "all to have the same shards")
        state = self._state()
        figures.add("shards", f"once {PAGES} responses were stored", count_of(state))
        self.assertGreater(count_of(state), count_of(first))
        self._ask_all(sidecars)
        self.assertEqual(self._fetches(), PAGES, "a cut fetches nothing again")
        self.kubectl("rollout", "restart", "statefulset/ringside-cache")
        self.kubectl("rollout", "status", "--timeout=5m", "statefulset/ringside-cache")
        replicas = self.ready("cache", 3)
        wait_until(lambda: self._is_settled(replicas + sidecars), "all to have the same shards")
        self._ask_all(sidecars)
        figures.add("shards", "fetched again after a rolling restart", self._fetches() - PAGES)
        self.assertEqual(self._fetches(), PAGES)
        self.assertEqual(self._state(), state)

    def _is_settled(self, addresses: list[str]) -> bool:
        """Nothing is cut any more, and nothing moves."""
        before = self._topology(addresses)
        time.sleep(LOOK_ON_S)
        after = self._topology(addresses)
        away = r"^ringside_buckets_away(\{.*\})? [1-9]"
        moves = any(re.search(away, get(f"{one}:{ADMIN}", "/metrics")[1], re.M) for one in addresses)
        return before is not None and before == after and not moves
