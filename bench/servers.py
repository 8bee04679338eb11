"""The servers that are compared, and the origin behind them: their command lines and files."""

import dataclasses
import os
import pathlib
import resource

from processes import BenchError, Group, free_ports

MAX_AGE_S = 3600


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where things run: the servers under test on one core, wrk and the origin on the other."""

    tested_core: int
    load_core: int
    directory: pathlib.Path
    nginx: str
    ringside: str


@dataclasses.dataclass
class Case:
    """One line of the table: servers that are up, and the port that clients connect to."""

    hops: int
    server: str
    group: Group
    port: int


# What every nginx here has: one worker, no access log, no limit on the requests of a connection.
NGINX_FRAME = """
{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile 65536;
pid {home}/nginx.pid;
error_log {home}/error.log warn;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  default_type application/octet-stream;
  sendfile off;
  keepalive_requests 1000000000;
  keepalive_timeout 3600s;
  client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi;
  scgi_temp_path {home}/scgi;
  open_file_cache max={files} inactive=3600s;
  open_file_cache_valid 3600s;
{body}
}}
"""

ORIGIN = """
  server {{
    listen 127.0.0.1:{port};
    root {home}/bodies;
    add_header Cache-Control max-age={max_age};
    location = /requests {{ stub_status; }}
{locations}
  }}
"""

CACHE = """
  proxy_cache_path {home}/cache levels=1:2 keys_zone=all:64m max_size=4g inactive=1h
                   use_temp_path=off;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 64; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_cache all;
      proxy_cache_lock on;
    }}
  }}
"""

FRONT = """
  upstream replicas {{
    hash $request_uri consistent;
{servers}
    keepalive 640;
    keepalive_requests 1000000000;
    keepalive_timeout 3600s;
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffer_size 32k;
      proxy_buffers 8 32k;
    }}
  }}
"""


def start_nginx(machine: Machine, group: Group, core: int, name: str, port: int, body: str) -> None:
    home = machine.directory / name
    home.mkdir(exist_ok=True)
    user = "user root;" if os.geteuid() == 0 else ""  # the files are ours, not nobody's
    config = home / "nginx.conf"
    # nginx answers 500 where its cached files take the last descriptor; half of them is for them.
    files = min(100_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 2)
    config.write_text(NGINX_FRAME.format(user=user, home=home, body=body, files=files),
                      encoding="utf-8")
    group.start([machine.nginx, "-e", str(home / "error.log"), "-p", str(home), "-c", str(config)],
                core, home / "out.log", [port])


def start_origin(machine: Machine, group: Group, sizes: list[int]) -> int:
    """/SIZE/anything is SIZE bytes that may be stored for an hour. Returns its port."""
    home = machine.directory / "origin"
    (home / "bodies").mkdir(parents=True)
    for size in sizes:
        (home / "bodies" / f"{size}.bin").write_bytes(b"ringside" * (size // 8) + b"." * (size % 8))
    locations = "\n".join(
        f"    location /{size}/ {{ try_files /{size}.bin =404; }}" for size in sizes)
    port = free_ports(1)[0]
    body = ORIGIN.format(port=port, home=home, max_age=MAX_AGE_S, locations=locations)
    start_nginx(machine, group, machine.load_core, "origin", port, body)
    return port


def start_nginx_cache(machine: Machine, group: Group, name: str, port: int, origin: int) -> None:
    body = CACHE.format(home=machine.directory / name, port=port, origin=origin)
    start_nginx(machine, group, machine.tested_core, name, port, body)


def start_ringside(machine: Machine, group: Group, name: str, port: int, words: list[str]) -> None:
    command = [machine.ringside, *words, "--listen", f"127.0.0.1:{port}",
               "--admin", "127.0.0.1:0", "--threads", "1", "--log-level", "warning",
               "--drain-deadline", "1s"]
    group.start(command, machine.tested_core, machine.directory / f"{name}.log", [port])


def start_ringside_cache(machine: Machine, group: Group, name: str, port: int, origin: int) -> None:
    words = ["cache", "--name", name, "--origin", f"http://127.0.0.1:{origin}", "--memory", "1GiB",
             "--insecure-peers"]
    start_ringside(machine, group, name, port, words)


def nginx_one_hop(machine: Machine, group: Group, origin: int) -> int:
    port = free_ports(1)[0]
    start_nginx_cache(machine, group, "nginx-one", port, origin)
    return port


def ringside_one_hop(machine: Machine, group: Group, origin: int) -> int:
    port = free_ports(1)[0]
    start_ringside_cache(machine, group, "ringside-one", port, origin)
    return port


def nginx_two_hops(machine: Machine, group: Group, origin: int, replicas: int) -> int:
    port, *ports = free_ports(1 + replicas)
    for index, each in enumerate(ports):
        start_nginx_cache(machine, group, f"nginx-{index}", each, origin)
    servers = "\n".join(f"    server 127.0.0.1:{each};" for each in ports)
    start_nginx(machine, group, machine.tested_core, "nginx-front", port,
                FRONT.format(servers=servers, port=port))
    return port


def ringside_two_hops(machine: Machine, group: Group, origin: int, replicas: int,
                      shard_key: str) -> int:
    port, *ports = free_ports(1 + replicas)
    for index, each in enumerate(ports):
        start_ringside_cache(machine, group, f"cache-{index}", each, origin)
    members = ",".join(f"cache-{index}=127.0.0.1:{each}" for index, each in enumerate(ports))
    start_ringside(machine, group, "sidecar", port,
                   ["sidecar", "--replicas", members, "--shard-key", shard_key, "--geo-optional",
                    "--insecure-peers"])
    return port


def start_case(machine: Machine, group: Group, hops: int, server: str, origin: int, replicas: int,
               shard_key: str) -> Case:
    if hops == 1:
        start = {"nginx": nginx_one_hop, "ringside": ringside_one_hop}[server]
        port = start(machine, group, origin)
    elif server == "nginx":
        port = nginx_two_hops(machine, group, origin, replicas)
    elif server == "ringside":
        port = ringside_two_hops(machine, group, origin, replicas, shard_key)
    else:
        raise BenchError(f"no such server: {server}")
    return Case(hops, server, group, port)
