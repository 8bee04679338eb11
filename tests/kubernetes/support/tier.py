"""The tier under test: deployed once from the project's own manifests, used by all scenarios."""

import http.client
import pathlib
import re
import secrets
import subprocess
import sys
import tempfile
import time
import unittest

from .api import Api
from .observers import EndpointHistory, TopologyHistory
from .figures import figures
from .records import Record, failures, fetched_again
from .traffic import COUNTRIES, PATHS, Clients, Origin
from .waiting import wait_until

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "kubernetes_manifests"))
from old_kustomize import readable  # noqa: E402

PLACE = "/namespaces/ringside"
SET = f"/apis/apps/v1{PLACE}/statefulsets/ringside-cache"
PODS = f"/api/v1{PLACE}/pods"
NAME = "ringside-cache"
CACHES = "labelSelector=app.kubernetes.io%2Fcomponent%3Dcache"
APPS = "labelSelector=app.kubernetes.io%2Fname%3Dapp"
HTTP, ADMIN = 8080, 9090
REPLICAS, SIDECARS = 10, 2


def cluster(*arguments, stdin: str | None = None) -> str:
    """tests/kubernetes/cluster: its stdout. Fails with its stderr."""
    command = [str(HERE / "cluster"), *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}{done.stdout}")
    return done.stdout


def kubectl(*arguments, stdin: str | None = None) -> str:
    return cluster("ctl", "--namespace=ringside", *arguments, stdin=stdin)


def manifests(overlay: pathlib.Path) -> str:
    """As they are, but for what this old cluster has no newer version of."""
    with readable(overlay) as folder:
        text = cluster("ctl", "kustomize", folder)
    text = text.replace("apiVersion: policy/v1\n", "apiVersion: policy/v1beta1\n")
    return re.sub(r"\n *unhealthyPodEvictionPolicy: .*", "", text)


def is_ready(pod: dict) -> bool:
    conditions = pod["status"].get("conditions", [])
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def get(address: str, target: str) -> tuple[int, str]:
    """Status and body; (0, why) without an answer."""
    connection = http.client.HTTPConnection(address, timeout=5)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)
    finally:
        connection.close()


class Deployment:
    """What stands in the cluster, and who looks on and asks all the while."""

    def __init__(self):
        self._parts: list = []
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ringside-kubernetes-")
        self.folder = pathlib.Path(self._folder.name)
        self.api = Api(pathlib.Path(cluster("state").strip()))
        self.api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "ringside"}})
        self.endpoints = self._kept(EndpointHistory(self.api, PLACE, NAME))
        self.origin = self._kept(Origin(self.folder))
        for name, key in (("ringside-peer-key", "key"), ("ringside-admin-token", "token")):
            literal = f"--from-literal={key}={secrets.token_hex(32)}"
            kubectl("create", "secret", "generic", name, literal)
        kubectl("apply", "-f", "-", stdin=manifests(HERE / "overlay"))
        self.wait_for_replicas(REPLICAS)
        self.sidecars = wait_until(self._ready_sidecars, "two sidecars")
        fronts = [f"{ip}:{HTTP}" for ip in self.sidecars.values()]
        self.clients = self._kept(Clients(self.folder, fronts))
        everything = PATHS * COUNTRIES
        wait_until(lambda: len(self.clients.records()) > everything, "all to be asked for once")

    def _kept(self, part):
        self._parts.append(part)
        return part

    def pods(self, selector: str) -> list[dict]:
        return self.api.get(f"{PODS}?{selector}")["items"]

    def _ready_sidecars(self) -> dict[str, str] | None:
        ready = [pod for pod in self.pods(APPS) if is_ready(pod)]
        if len(ready) < SIDECARS:
            return None
        return {pod["metadata"]["name"]: pod["status"]["podIP"] for pod in ready}

    def ready_replicas(self) -> dict[str, dict]:
        return {pod["metadata"]["name"]: pod for pod in self.pods(CACHES) if is_ready(pod)}

    def wait_for_replicas(self, count: int) -> dict[str, dict]:
        """All of them ready, and nobody else there."""

        def all_ready() -> dict[str, dict] | None:
            ready = self.ready_replicas()
            return ready if len(ready) == len(self.pods(CACHES)) == count else None

        return wait_until(all_ready, f"{count} ready replicas")

    def scale(self, count: int) -> float:
        """When the API server had said yes."""
        body = {"spec": {"replicas": count}}
        self.api.ask("PATCH", f"{SET}/scale", body, "application/merge-patch+json")
        return time.monotonic()

    def admins(self) -> dict[str, str]:
        """The admin address of every replica and sidecar that has one now."""
        found = {name: f"{ip}:{ADMIN}" for name, ip in self.sidecars.items()}
        try:
            for pod in self.pods(CACHES):
                if ip := pod["status"].get("podIP"):
                    found[pod["metadata"]["name"]] = f"{ip}:{ADMIN}"
        except (OSError, http.client.HTTPException):
            pass  # the API server is away
        return found

    def topologies(self) -> TopologyHistory:
        return TopologyHistory(self.admins)

    def close(self) -> None:
        for part in reversed(self._parts):
            part.stop()
        self._folder.cleanup()


class Scenario(unittest.TestCase):
    """Ten replicas, all ready, with traffic; `self.deployment`."""

    deployment: Deployment | None = None  # of all scenarios, from the first one on

    def setUp(self) -> None:
        if Scenario.deployment is None:
            Scenario.deployment = Deployment()
        if self.deployment.api.get(f"{SET}/scale")["spec"]["replicas"] != REPLICAS:
            self.deployment.scale(REPLICAS)
        self.deployment.wait_for_replicas(REPLICAS)
        self.begin = time.monotonic()

    def assert_none_fetched_again(self, name: str, since: float, end: float) -> None:
        """The promise of the handoff: what the tier had, it still has."""
        before = self.deployment.origin.fetches(0, since)
        again = fetched_again(before, self.deployment.origin.fetches(since, end))
        figures.add(name, "keys that the origin had given before", len(set(before)))
        figures.add(name, "fetched again", len(again))
        self.assertEqual(again, [])

    def assert_none_failed(self, records: list[Record]) -> None:
        failed = failures(records)
        self.assertGreater(len(records), 0)
        self.assertEqual(len(failed), 0, f"of {len(records)}, the first: {failed[:5]}")
