"""The floor, Ringside, the origin behind all: their command lines. Starts what a case needs."""

import pathlib
import resource
import subprocess
import sys

import peers
from beside import LARGE_BYTES
from cases import most_clients
from machine import Deployment, Key, Machine
from processes import BenchError, Group, Process, free_ports
from peers import start_nginx

MAX_AGE_S = 3600
HELPER = pathlib.Path(__file__).with_name("slow_origin.py")

# /SIZE/anything is SIZE bytes that may be stored for an hour, and takes a POST; /large a GiB that
# may not be stored.
ORIGIN = """
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {home}/bodies;
    add_header Cache-Control max-age={max_age};
    location = /requests {{ stub_status; }}
    location = /large {{ add_header Cache-Control no-store; try_files /large.bin =404; }}
    location / {{ try_files /1024.bin =404; }}
    location /slow/ {{ proxy_pass http://127.0.0.1:{helper}; }}
    location = /echo {{
      proxy_pass http://127.0.0.1:{helper};
      proxy_read_timeout 3600s;
      {proxied}
    }}
{locations}
  }}
"""

NEAR = """
routes:
  - name: all
    near_ttl: 1m
"""


def start_origin(machine: Machine, sizes: set[int]) -> int:
    """Returns its port."""
    group = machine.origin_group
    home = machine.directory / "origin"
    (home / "bodies").mkdir(parents=True)
    for size in sizes | {1024}:
        (home / "bodies" / f"{size}.bin").write_bytes(b"ringside" * (size // 8) + b"." * (size % 8))
    with (home / "bodies" / "large.bin").open("wb") as file:
        file.truncate(LARGE_BYTES)
    locations = "\n".join(
        f"    location /{size}/ {{ if ($request_method = POST) {{ return 204; }} "
        f"try_files /{size}.bin =404; }}" for size in sorted(sizes))
    port, helper = free_ports(2)
    group.start("origin", [sys.executable, "-B", str(HELPER), str(helper)], machine.load_core,
                home / "helper.log", [helper])
    body = ORIGIN.format(port=port, home=home, max_age=MAX_AGE_S, locations=locations,
                         helper=helper, proxied=peers.PROXIED)
    start_nginx(machine, group, "origin", "origin", port, body, core=machine.load_core)
    return port


def start_floor(machine: Machine, group: Group, hop: str, name: str, words: list[str],
                port: int) -> None:
    group.start(hop, [machine.programs["floor"], words[0], str(port), *words[1:]],
                machine.tested_core, machine.directory / f"{name}.log", [port])


def floor_one(machine: Machine, deployment: Deployment) -> int:
    port, = free_ports(1)
    canned = deployment.key.canned
    words = (["relay", str(machine.origin)] if canned == ("origin",) else ["serve", *canned])
    start_floor(machine, deployment.group, "caches", deployment.name, words, port)
    return port


def floor_two(machine: Machine, deployment: Deployment) -> int:
    port, *ports = free_ports(1 + machine.replicas)
    for index, each in enumerate(ports):
        start_floor(machine, deployment.group, "caches", f"{deployment.name}-{index}",
                    ["serve", *deployment.key.canned], each)
    start_floor(machine, deployment.group, "front", deployment.name,
                ["relay", *map(str, ports)], port)
    return port


def options_of(program: str, command: str) -> str:
    """What its --help says: an older program knows fewer options."""
    done = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=False)
    return done.stdout


def start_ringside(machine: Machine, deployment: Deployment, hop: str, name: str, port: int,
                   words: list[str]) -> Process:
    program = machine.programs[deployment.key.server]
    command = [program, *words, "--listen", f"127.0.0.1:{port}",
               "--admin", "127.0.0.1:0", "--threads", "1", "--log-level", "warning",
               "--drain-deadline", "1s"]
    if "--insecure-peers" in options_of(program, words[0]):
        command.append("--insecure-peers")
    return deployment.group.start(hop, command, machine.tested_core,
                                  machine.directory / f"{name}.log", [port])


def start_replica(machine: Machine, deployment: Deployment, index: int, port: int) -> None:
    memory = deployment.key.memory.replace("G", "GiB")
    words = ["cache", "--name", f"cache-{index}", "--origin", f"http://127.0.0.1:{machine.origin}",
             "--memory", memory]
    start_ringside(machine, deployment, "caches", f"{deployment.name}-{index}", port, words)


def ringside_one(machine: Machine, deployment: Deployment) -> int:
    port, = free_ports(1)
    start_replica(machine, deployment, 0, port)
    return port


def ringside_two(machine: Machine, deployment: Deployment) -> int:
    port, *ports = free_ports(1 + machine.replicas)
    for index, each in enumerate(ports):
        start_replica(machine, deployment, index, each)
    members = ",".join(f"cache-{index}=127.0.0.1:{each}" for index, each in enumerate(ports))
    words = ["sidecar", "--replicas", members, "--shard-key", machine.shard_key, "--geo-optional"]
    if deployment.key.many:
        words += ["--trust", "127.0.0.0/8"]  # one address may not have so many connections
    if deployment.key.shape == "near":
        config = machine.directory / f"{deployment.name}.yaml"
        config.write_text(NEAR, encoding="utf-8")
        words += ["--config", str(config)]
    start_ringside(machine, deployment, "front", deployment.name, port, words)
    return port


STARTS = peers.STARTS | {
    ("floor", "one"): floor_one,
    ("floor", "two"): floor_two,
} | {(server, shape): start
     for server in ("ringside", "other")
     for shape, start in (("one", ringside_one), ("two", ringside_two), ("near", ringside_two))}


class Fleet:
    """The deployments that run. What a case does not need is stopped before it is measured."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.running: dict[Key, Deployment] = {}
        self.started = 0

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, *_: object) -> None:
        self.keep(set())

    def keep(self, keys: set[Key]) -> None:
        for key in [key for key in self.running if key not in keys]:
            self.running.pop(key).group.stop()

    def start(self, key: Key) -> Deployment:
        if key in self.running:
            return self.running[key]
        self.started += 1
        deployment = Deployment(key, f"{key.server}-{key.shape}-{self.started}", Group())
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        deployment.clients = most_clients(descriptors) if key.many else 2048
        self.running[key] = deployment
        try:
            deployment.port = STARTS[key.server, key.shape](self.machine, deployment)
        except BenchError:
            self.running.pop(key).group.stop()
            raise
        return deployment
