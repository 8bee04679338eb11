"""A Kubernetes API server that knows one StatefulSet and the slices of its service, for replicas
that are processes of this machine: each has a slice of its own, for each has a port of its own."""

import contextlib
import json
import socket
import threading
import urllib.parse

from .listener import Listener

NAME = "cache"
SERVICE = "cache-headless"
SETS = "/apis/apps/v1/namespaces/shop/statefulsets"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices"
CONFIG_MAPS = "/api/v1/namespaces/shop/configmaps/"


class ApiServer:
    def __init__(self):
        self._changed = threading.Condition()  # of all below
        self._version = 100
        self._generation = 0
        self._objects: dict[str, dict[str, dict]] = {SETS: {}, SLICES: {}, CONFIG_MAPS: {}}
        self.conflicts = 0  # writes of a ConfigMap that came too late
        self._events: list[tuple[int, str, dict]] = []  # version, collection, event
        self._connections: set[socket.socket] = set()
        self._forbidden = False
        self._listener = Listener(self._serve)
        self.start()

    # --- what a test does -------------------------------------------------------------------------

    def scale(self, replicas: int) -> None:
        with self._changed:
            self._generation += 1
            self._put(SETS, NAME, {
                "metadata": {"generation": self._generation},
                "spec": {"replicas": replicas, "serviceName": SERVICE},
            })  # fmt: skip

    def place(self, pod: str, address: str, ready: bool = True, terminating: bool = False) -> None:
        host, _, port = address.rpartition(":")
        conditions = {"ready": ready and not terminating, "serving": ready}
        conditions["terminating"] = terminating
        with self._changed:
            self._put(SLICES, f"{SERVICE}-{pod}", {
                "metadata": {}, "addressType": "IPv4",
                "ports": [{"name": "http", "port": int(port), "protocol": "TCP"}],
                "endpoints": [{
                    "addresses": [host], "conditions": conditions,
                    "targetRef": {"kind": "Pod", "name": pod, "namespace": "shop"},
                }],
            })  # fmt: skip

    def make_config_map(self, name: str) -> None:
        with self._changed:
            self._put(CONFIG_MAPS, name, {"kind": "ConfigMap", "metadata": {}})

    def touch_config_map(self, name: str) -> None:
        """As somebody does who writes something else into it: its version is another one."""
        with self._changed:
            data = self._objects[CONFIG_MAPS][name].get("data", {}) | {"other": str(self._version)}
            self._put(CONFIG_MAPS, name, {"kind": "ConfigMap", "metadata": {}, "data": data})

    def config_map(self, name: str) -> dict:
        with self._changed:
            return dict(self._objects[CONFIG_MAPS][name].get("data", {}))

    def forbid(self, forbidden: bool) -> None:
        with self._changed:
            self._forbidden = forbidden

    def start(self) -> None:
        self._listener.listen()

    def go_away(self) -> None:
        """Nobody listens any more, and open watches are cut."""
        self._listener.refuse(self._end_connections)

    def stop(self) -> None:
        self._listener.stop(self._end_connections)

    def _end_connections(self) -> None:
        with self._changed:
            ended, self._connections = self._connections, set()
            self._changed.notify_all()
        for connection in ended:
            with contextlib.suppress(OSError):  # its client went away already
                connection.shutdown(socket.SHUT_RDWR)

    def kubeconfig(self) -> str:
        """JSON is YAML."""
        return json.dumps({
            "current-context": "test",
            "contexts": [{
                "name": "test",
                "context": {"cluster": "test", "user": "test", "namespace": "shop"},
            }],
            "clusters": [{
                "name": "test",
                "cluster": {"server": f"http://127.0.0.1:{self._listener.port}"},
            }],
            "users": [{"name": "test", "user": {"token": "of-a-test"}}],
        }, indent=1)  # fmt: skip

    # --- what it says -----------------------------------------------------------------------------

    def _put(self, collection: str, name: str, value: dict) -> None:
        self._version += 1
        known = self._objects[collection]
        value["metadata"] |= {"name": name, "resourceVersion": str(self._version)}
        kind = "MODIFIED" if name in known else "ADDED"
        known[name] = value
        self._events.append((self._version, collection, {"type": kind, "object": value}))
        self._changed.notify_all()

    def _serve(self, connection: socket.socket) -> None:
        with self._changed:
            self._connections.add(connection)
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as lines:
            while request := lines.readline().decode():
                size = 0
                while line := lines.readline().strip():
                    name, _, value = line.partition(b":")
                    size = int(value) if name.lower() == b"content-length" else size
                body = lines.read(size)
                method, target, _ = request.split(" ")
                self._answer(connection, method, urllib.parse.urlsplit(target), body)
        with self._changed:
            self._connections.discard(connection)

    def _answer(
        self, connection: socket.socket, method: str, url: urllib.parse.SplitResult, body: bytes
    ) -> None:
        asked = dict(urllib.parse.parse_qsl(url.query))
        with self._changed:
            forbidden = self._forbidden
        if forbidden:
            message = f'User "tester" cannot list resource at {url.path}'
            self._reply(connection, 403, {"kind": "Status", "code": 403, "message": message})
        elif url.path == "/apis/discovery.k8s.io":
            v1 = {"groupVersion": "discovery.k8s.io/v1", "version": "v1"}
            self._reply(connection, 200, {"preferredVersion": v1, "versions": [v1]})
        elif url.path.startswith(CONFIG_MAPS):
            self._reply(connection, *self._of_config_map(method, url.path[len(CONFIG_MAPS) :], body))
        elif url.path not in self._objects:
            self._reply(connection, 404, {"kind": "Status", "code": 404, "message": "not found"})
        elif "watch" in asked:
            self._watch(connection, url.path, int(asked["resourceVersion"]))
        else:
            with self._changed:
                kind = "StatefulSetList" if url.path == SETS else "EndpointSliceList"
                version = {"resourceVersion": str(self._version)}
                items = list(self._objects[url.path].values())
                answer = {"kind": kind, "metadata": version, "items": items}
            self._reply(connection, 200, answer)

    def _of_config_map(self, method: str, name: str, body: bytes) -> tuple[int, dict]:
        """Read, or patched where the version that is named is the present one."""
        with self._changed:
            known = self._objects[CONFIG_MAPS].get(name)
            if known is None:
                return 404, {"kind": "Status", "code": 404, "message": f'configmaps "{name}" not found'}
            if method == "PATCH":
                patch = json.loads(body)
                if patch["metadata"]["resourceVersion"] != known["metadata"]["resourceVersion"]:
                    self.conflicts += 1
                    return 409, {"kind": "Status", "code": 409, "message": "has been modified"}
                data = known.get("data", {}) | patch["data"]
                self._put(CONFIG_MAPS, name, {"kind": "ConfigMap", "metadata": {}, "data": data})
            return 200, self._objects[CONFIG_MAPS][name]

    @staticmethod
    def _reply(connection: socket.socket, status: int, answer: dict) -> None:
        body = json.dumps(answer).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def _watch(self, connection: socket.socket, collection: str, version: int) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._version > version or connection not in self._connections
                )
                if connection not in self._connections:
                    return
                news = [event for at, of, event in self._events if at > version and of == collection]
                version = self._version
            for event in news:
                line = json.dumps(event).encode() + b"\n"
                connection.sendall(f"{len(line):x}\r\n".encode() + line + b"\r\n")
