#!/usr/bin/env python3
"""tests/kubernetes/cluster run tests/kubernetes/record.py

Records what a real API server answers to a client that discovers replicas, into tests/k8s/recorded/
for the unit tests of k8s/: bodies as they came, but for `managedFields`, which nobody here reads.
index.json has each one's request, status and type. Takes about a minute and a half. Standard
library only.
"""

import json
import pathlib
import subprocess
import sys
import threading
import time

from support.api import Api, Refused

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE.parent / "k8s" / "recorded"
PLACE = "/namespaces/shop"
APPS = f"/apis/apps/v1{PLACE}"
SLICES = f"/apis/discovery.k8s.io/v1beta1{PLACE}/endpointslices"
OF_SET = "fieldSelector=metadata.name%3Dringside-cache"
OF_SERVICE = "labelSelector=kubernetes.io%2Fservice-name%3Dringside-cache"
PAUSE = "localhost/ringside-pause:1"
WATCH_S = 24  # a bookmark comes two seconds before the end
WAIT_S = 60


def without_bulk(node):
    if isinstance(node, dict):
        kept = (name for name in node if name != "managedFields")
        return {name: without_bulk(node[name]) for name in kept}
    return [without_bulk(value) for value in node] if isinstance(node, list) else node


class Recorder:
    """Answers by name, and what was asked for each."""

    def __init__(self, api: Api):
        self.api = api
        self.index = {}

    def keep(self, name: str, path: str, api: Api | None = None) -> dict:
        """GETs the path and keeps the answer. A stream is kept event by event, a line each."""
        answer = (api or self.api).open("GET", path)
        raw = answer.read().decode()
        kind = answer.getheader("Content-Type", "")
        suffix = "events" if "watch=1" in path and answer.status == 200 else "json"
        if "json" not in kind:
            suffix = "txt"
        page = [json.loads(line) for line in raw.splitlines()] if suffix == "events" else raw
        if suffix == "events":
            text = "".join(json.dumps(without_bulk(event)) + "\n" for event in page)
        elif suffix == "json":
            page = json.loads(raw)
            text = json.dumps(without_bulk(page), indent=2) + "\n"
        else:
            text = raw
        file = f"{name}.{suffix}"
        (RECORDED / file).write_text(text)
        self.index[file] = {"get": path, "status": answer.status, "type": kind}
        print(f"  {answer.status} {file}", flush=True)
        return page

    def keep_meanwhile(self, name: str, path: str) -> threading.Thread:
        thread = threading.Thread(target=self.keep, args=(name, path), daemon=True)
        thread.start()
        return thread


def wait_until(condition, what: str):
    until = time.monotonic() + WAIT_S
    while not (value := condition()):
        if time.monotonic() > until:
            sys.exit(f"record.py: waited {WAIT_S} s in vain for {what}")
        time.sleep(0.1)
    return value


def prepare(api: Api) -> None:
    """A StatefulSet whose pods only wait, are ready where we say so, and end slowly."""
    api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})
    for name in ("ringside", "nobody"):
        api.ask("POST", f"/api/v1{PLACE}/serviceaccounts", {"metadata": {"name": name}})
    labels = {"app.kubernetes.io/name": "ringside", "app.kubernetes.io/component": "cache"}
    ports = [{"name": "http", "port": 8080}, {"name": "admin", "port": 9090}]
    service = {"clusterIP": "None", "selector": labels, "ports": ports}
    api.ask(
        "POST",
        f"/api/v1{PLACE}/services",
        {"metadata": {"name": "ringside-cache", "labels": labels}, "spec": service},
    )
    container = {
        "name": "ringside",
        "image": PAUSE,
        "imagePullPolicy": "Never",
        "ports": [{"name": port["name"], "containerPort": port["port"]} for port in ports],
        "lifecycle": {"preStop": {"exec": {"command": ["/pause"]}}},
    }
    pod = {
        "containers": [container],
        "readinessGates": [{"conditionType": "test/ready"}],
        "terminationGracePeriodSeconds": 6,
    }
    spec = {
        "replicas": 3,
        "serviceName": "ringside-cache",
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    api.ask(
        "POST",
        f"{APPS}/statefulsets",
        {"metadata": {"name": "ringside-cache", "labels": labels}, "spec": spec},
    )


def set_ready(api: Api, pod: str, ready: bool) -> None:
    path = f"/api/v1{PLACE}/pods/{pod}/status"
    condition = {"type": "test/ready", "status": str(ready)}
    wait_until(lambda: is_running(api, pod), f"{pod} to run")
    api.patch(path, {"status": {"conditions": [condition]}})


def is_running(api: Api, pod: str) -> bool:
    try:
        return api.get(f"/api/v1{PLACE}/pods/{pod}")["status"].get("phase") == "Running"
    except Refused:
        return False


def endpoints(api: Api) -> list[dict]:
    page = api.get(f"{SLICES}?{OF_SERVICE}")
    return [one for item in page["items"] for one in item["endpoints"] or []]


def ready_count(api: Api) -> int:
    return sum(1 for one in endpoints(api) if one["conditions"]["ready"])


def token_of(state: pathlib.Path, account: str) -> str:
    """A service account's, as the API server makes them for pods."""
    api = Api(state)
    path = f"/api/v1{PLACE}/serviceaccounts/{account}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return api.ask("POST", path, request)["status"]["token"]


def record_groups(recorder: Recorder) -> None:
    recorder.keep("version", "/version")
    recorder.keep("groups", "/apis")
    recorder.keep("discovery_group", "/apis/discovery.k8s.io")
    recorder.keep("discovery_v1_absent", "/apis/discovery.k8s.io/v1")
    recorder.keep("slices_v1_absent", f"/apis/discovery.k8s.io/v1{PLACE}/endpointslices")


def record_states(recorder: Recorder) -> None:
    """Lists in each state, while two watches see how one becomes the other."""
    api = recorder.api
    set_ready(api, "ringside-cache-0", True)
    wait_until(lambda: ready_count(api) == 1, "one ready endpoint")
    sets = recorder.keep("stateful_sets", f"{APPS}/statefulsets?{OF_SET}")
    slices = recorder.keep("slices_one_ready", f"{SLICES}?{OF_SERVICE}")
    recorder.keep("stateful_set", f"{APPS}/statefulsets/ringside-cache")

    def watch(name: str, path: str, page: dict) -> threading.Thread:
        version = page["metadata"]["resourceVersion"]
        query = f"watch=1&allowWatchBookmarks=true&timeoutSeconds={WATCH_S}"
        return recorder.keep_meanwhile(name, f"{path}&{query}&resourceVersion={version}")

    watches = [
        watch("stateful_set_watch", f"{APPS}/statefulsets?{OF_SET}", sets),
        watch("slices_watch", f"{SLICES}?{OF_SERVICE}", slices),
    ]
    watches += [
        recorder.keep_meanwhile(f"{name}_from_the_start", f"{path}&watch=1&timeoutSeconds=3")
        for name, path in (
            ("stateful_set_watch", f"{APPS}/statefulsets?{OF_SET}"),
            ("slices_watch", f"{SLICES}?{OF_SERVICE}"),
        )
    ]
    for pod in (1, 2):
        set_ready(api, f"ringside-cache-{pod}", True)
    wait_until(lambda: ready_count(api) == 3, "three ready endpoints")
    recorder.keep("slices_all_ready", f"{SLICES}?{OF_SERVICE}")
    api.patch(f"{APPS}/statefulsets/ringside-cache", {"spec": {"replicas": 4}})
    api.ask("DELETE", f"/api/v1{PLACE}/pods/ringside-cache-1")
    wait_until(
        lambda: any(one["conditions"].get("terminating") for one in endpoints(api)),
        "a terminating endpoint",
    )
    wait_until(lambda: len(endpoints(api)) == 4, "a fourth endpoint")
    recorder.keep("slices_terminating", f"{SLICES}?{OF_SERVICE}")
    wait_until(lambda: not any(one["conditions"].get("terminating") for one in endpoints(api)),
               "its end")  # fmt: skip
    for path in (f"{APPS}/statefulsets/ringside-cache", f"/api/v1{PLACE}/services/ringside-cache"):
        api.ask("DELETE", path)
    for thread in watches:
        thread.join()
    recorder.keep("stateful_sets_none", f"{APPS}/statefulsets?{OF_SET}")
    recorder.keep("slices_none", f"{SLICES}?{OF_SERVICE}")


def record_refusals(recorder: Recorder, state: pathlib.Path) -> None:
    nobody = Api(state, token_of(state, "nobody"))
    recorder.keep("unauthorized", f"{APPS}/statefulsets?{OF_SET}", Api(state, "no-such-token"))
    recorder.keep("anonymous", f"{APPS}/statefulsets?{OF_SET}", Api(state, ""))
    recorder.keep("forbidden_list_sets", f"{APPS}/statefulsets?{OF_SET}", nobody)
    recorder.keep("forbidden_watch_sets", f"{APPS}/statefulsets?{OF_SET}&watch=1", nobody)
    recorder.keep("forbidden_list_slices", f"{SLICES}?{OF_SERVICE}", nobody)
    recorder.keep("forbidden_watch_slices", f"{SLICES}?{OF_SERVICE}&watch=1", nobody)
    recorder.keep("not_found_set", f"{APPS}/statefulsets/no-such")
    recorder.keep("not_a_selector", f"{APPS}/statefulsets?fieldSelector=spec.no%3Dsuch")


def record_gone(recorder: Recorder) -> None:
    """What is older than the server remembers: its memory of events goes with its process, etcd's
    with a compaction, which etcd does on demand."""
    ancient = "resourceVersion=2"
    for command in ("stop", "start"):
        subprocess.run([HERE / "cluster", "api", command], check=True)
    recorder.keep("gone_watch", f"{APPS}/statefulsets?{OF_SET}&watch=1&{ancient}&timeoutSeconds=5")
    now = int(recorder.api.get(f"{APPS}/statefulsets")["metadata"]["resourceVersion"])
    etcd = "http://127.0.0.1:2379/v3/kv/compaction"
    compact = ["curl", "--silent", "--show-error", etcd, "--data", json.dumps({"revision": now})]
    subprocess.run(compact, check=True, stdout=subprocess.DEVNULL)
    recorder.keep("gone_list", f"{APPS}/statefulsets?{ancient}&resourceVersionMatch=Exact")
    recorder.keep("future_list", f"{APPS}/statefulsets?resourceVersion={now + 100000}")


def main() -> None:
    found = subprocess.run([HERE / "cluster", "state"], check=True, capture_output=True, text=True)
    state = pathlib.Path(found.stdout.strip())
    RECORDED.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(Api(state))
    prepare(recorder.api)
    record_groups(recorder)
    record_states(recorder)
    record_refusals(recorder, state)
    record_gone(recorder)
    (RECORDED / "index.json").write_text(json.dumps(recorder.index, indent=2) + "\n")


if __name__ == "__main__":
    main()
