"""Who looks on while a scenario goes: at the API's word on pods, and at each topology in use."""

import http.client
import json
import threading
import time
from collections.abc import Callable

from .api import Api, Watch


class EndpointHistory:
    """Of each pod of a headless service: when the API server first told of it, when that it was
    ready, and when that it was not any more. A pod is (name, uid): one that is started again is
    another."""

    def __init__(self, api: Api, place: str, service: str):
        self._changed = threading.Lock()
        self.appeared: dict[tuple[str, str], float] = {}
        self.became_ready: dict[tuple[str, str], float] = {}
        self.became_unready: dict[tuple[str, str], float] = {}
        self._service = service
        path = f"/apis/discovery.k8s.io/v1beta1{place}/endpointslices"
        self._watch = Watch(api, path, self._see)

    def _see(self, now: float, event: dict) -> None:
        item = event["object"]
        labels = item.get("metadata", {}).get("labels", {})
        if labels.get("kubernetes.io/service-name") != self._service:
            return
        with self._changed:
            for endpoint in item["endpoints"] or []:
                pod = (endpoint["targetRef"]["name"], endpoint["targetRef"]["uid"])
                self.appeared.setdefault(pod, now)
                if endpoint["conditions"]["ready"]:
                    self.became_ready.setdefault(pod, now)
                elif pod in self.became_ready:
                    self.became_unready.setdefault(pod, now)

    def ready_since(self, begin: float) -> list[tuple[float, str]]:
        """(when, name) of those that became ready after begin, in order."""
        with self._changed:
            found = [(at, name) for (name, _), at in self.became_ready.items() if at > begin]
        return sorted(found)

    def appeared_since(self, begin: float) -> list[tuple[float, str]]:
        with self._changed:
            found = [(at, name) for (name, _), at in self.appeared.items() if at > begin]
        return sorted(found)

    def unready_since(self, begin: float) -> list[tuple[float, str]]:
        with self._changed:
            found = [(at, name) for (name, _), at in self.became_unready.items() if at > begin]
        return sorted(found)

    def stop(self) -> None:
        self._watch.stop()


class TopologyHistory:
    """Asks every process for its topology, again and again, and keeps what changes."""

    LOOK_S = 0.05
    ANSWER_S = 2

    def __init__(self, addresses: Callable[[], dict[str, str]]):
        self._addresses = addresses
        self._changed = threading.Lock()
        self._seen: dict[str, list[tuple[float, str]]] = {}
        self._asked: dict[str, str] = {}  # name: admin address
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._find, daemon=True)]
        self._threads[0].start()

    def _find(self) -> None:
        """Starts a thread for each process that there is, and for those that come."""
        while not self._stopped.wait(self.LOOK_S * 4):
            for name, address in self._addresses().items():
                if self._asked.get(name) != address:
                    self._asked[name] = address
                    thread = threading.Thread(target=self._ask, args=(name, address), daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _ask(self, name: str, address: str) -> None:
        connection = http.client.HTTPConnection(address, timeout=self.ANSWER_S)
        while not self._stopped.wait(self.LOOK_S) and self._asked[name] == address:
            try:
                connection.request("GET", "/topology")
                found = json.loads(connection.getresponse().read())["id"]
            except (OSError, http.client.HTTPException, ValueError):
                connection.close()
                continue
            with self._changed:
                history = self._seen.setdefault(name, [])
                if not history or history[-1][1] != found:
                    history.append((time.monotonic(), found))
        connection.close()

    def ids(self) -> dict[str, str]:
        """What each has now."""
        with self._changed:
            return {name: history[-1][1] for name, history in self._seen.items()}

    def since(self, topology: str) -> dict[str, float]:
        """When each began to have that topology; without those that don't have it now."""
        with self._changed:
            last = {name: history[-1] for name, history in self._seen.items()}
        return {name: at for name, (at, found) in last.items() if found == topology}

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
