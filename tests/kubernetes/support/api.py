"""The Kubernetes API, as the tests ask it: over HTTPS, with the cluster's CA and a token."""

import http.client
import json
import pathlib
import ssl
import threading
import time
from collections.abc import Callable, Iterator

HOST, PORT = "10.250.0.1", 6443
ANSWER_S = 30
WATCH_S = 3600  # of silence, after which a watch is given up


class Refused(Exception):
    """An answer that is no success: `status` and the API's own words."""

    def __init__(self, status: int, reason: str, message: str):
        super().__init__(f"{status} {reason}: {message}")
        self.status, self.reason = status, reason


class Api:
    """One identity. Each call has a connection of its own: the API server comes and goes."""

    def __init__(self, state: pathlib.Path, token: str | None = None):
        self._tls = ssl.create_default_context(cafile=str(state / "ca.crt"))
        self.token = (state / "admin.token").read_text() if token is None else token

    def open(
        self, method: str, path: str, body=None, kind: str = "application/json", wait_s=ANSWER_S
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(HOST, PORT, timeout=wait_s, context=self._tls)
        fields = {"Content-Type": kind, "Accept": "application/json"}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        connection.request(method, path, None if body is None else json.dumps(body), fields)
        return connection.getresponse()

    def ask(self, method: str, path: str, body=None, kind: str = "application/json") -> dict:
        answer = self.open(method, path, body, kind)
        page = json.loads(answer.read())
        if answer.status >= 300:
            raise Refused(answer.status, page.get("reason", ""), page.get("message", ""))
        return page

    def get(self, path: str) -> dict:
        return self.ask("GET", path)

    def patch(self, path: str, body: dict) -> dict:
        return self.ask("PATCH", path, body, "application/strategic-merge-patch+json")

    def events(self, path: str) -> Iterator[dict]:
        """Of a watch, until the server ends it; `path` has its query."""
        with self.open("GET", path, wait_s=WATCH_S) as answer:
            if answer.status != 200:
                raise Refused(answer.status, answer.reason, answer.read().decode())
            for line in answer:
                yield json.loads(line)


class Watch:
    """Follows one list for as long as the tests go: `on_event(time, event)` in a thread of its own,
    the time by time.monotonic() when the event was here. Begins again where the server ends it."""

    RETRY_S = 0.2

    def __init__(self, api: Api, path: str, on_event: Callable[[float, dict], None]):
        self._api, self._path, self._on_event = api, path, on_event
        self._stopped = threading.Event()
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        while not self._stopped.is_set():
            try:
                for event in self._api.events(f"{self._path}?watch=1"):
                    if self._stopped.is_set():
                        return
                    self._on_event(time.monotonic(), event)
            except (OSError, http.client.HTTPException, ValueError):
                pass  # the API server is away, which some tests want
            self._stopped.wait(self.RETRY_S)

    def stop(self) -> None:
        self._stopped.set()
