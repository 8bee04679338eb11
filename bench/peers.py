"""nginx, HAProxy and Varnish: their configurations, none of them a straw man."""

import os
import resource

from machine import Deployment, Machine
from processes import Group, free_ports

# What every nginx here has: one worker, no access log, no limit on the requests of a connection.
NGINX_FRAME = """
{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile {descriptors};
pid {home}/nginx.pid;
error_log {home}/error.log warn;
events {{ worker_connections {connections}; }}
http {{
  access_log off;
  default_type application/octet-stream;
  sendfile off;
  keepalive_requests 1000000000;
  keepalive_timeout 3600s;
  proxy_max_temp_file_size 0;
  client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi;
  scgi_temp_path {home}/scgi;
  open_file_cache max={files} inactive=3600s;
  open_file_cache_valid 3600s;
  map $http_upgrade $connection_field {{ default upgrade; '' ''; }}
{body}
}}
"""

PROXIED = """
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_field;
"""

CACHE = """
  proxy_cache_path {home}/cache levels=1:2 keys_zone=all:64m max_size=4g inactive=1h
                   use_temp_path=off;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 64; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://origin;
      {proxied}
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
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://replicas;
      {proxied}
      proxy_buffer_size 32k;
      proxy_buffers 8 32k;
    }}
  }}
"""

HAPROXY = """
global
  nbthread 1
  maxconn {clients}
defaults
  mode http
  maxconn {clients}
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
frontend clients
  bind 127.0.0.1:{port} backlog 4096
  default_backend replicas
backend replicas
  balance uri whole
  hash-type consistent
{servers}
"""

VARNISH = """
vcl 4.1;
backend origin {{ .host = "127.0.0.1"; .port = "{origin}"; }}
sub vcl_recv {{ if (req.http.Upgrade) {{ return (pipe); }} }}
sub vcl_pipe {{ set bereq.http.Upgrade = req.http.Upgrade;
               set bereq.http.Connection = req.http.Connection; }}
"""


def start_nginx(machine: Machine, group: Group, hop: str, name: str, port: int, body: str,
                core: int | None = None, clients: int = 2048) -> None:
    home = machine.directory / name
    home.mkdir(exist_ok=True)
    user = "user root;" if os.geteuid() == 0 else ""  # the files are ours, not nobody's
    config = home / "nginx.conf"
    # nginx answers 500 where its cached files take the last descriptor; half of them is for them.
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    config.write_text(
        NGINX_FRAME.format(user=user, home=home, body=body, connections=2 * clients + 512,
                           files=min(100_000, descriptors // 2), descriptors=descriptors),
        encoding="utf-8")
    group.start(hop, [machine.programs["nginx"], "-e", str(home / "error.log"), "-p", str(home),
                      "-c", str(config)],
                machine.tested_core if core is None else core, home / "out.log", [port])


def start_nginx_cache(machine: Machine, group: Group, name: str, port: int,
                      clients: int) -> None:
    body = CACHE.format(home=machine.directory / name, port=port, origin=machine.origin,
                        proxied=PROXIED)
    start_nginx(machine, group, "caches", name, port, body, clients=clients)


def start_nginx_caches(machine: Machine, deployment: Deployment, ports: list[int]) -> None:
    for index, port in enumerate(ports):
        start_nginx_cache(machine, deployment.group, f"{deployment.name}-{index}", port,
                          deployment.clients)


def nginx_one(machine: Machine, deployment: Deployment) -> int:
    port, = free_ports(1)
    start_nginx_caches(machine, deployment, [port])
    return port


def nginx_two(machine: Machine, deployment: Deployment) -> int:
    port, *ports = free_ports(1 + machine.replicas)
    start_nginx_caches(machine, deployment, ports)
    servers = "\n".join(f"    server 127.0.0.1:{each};" for each in ports)
    start_nginx(machine, deployment.group, "front", f"{deployment.name}-front", port,
                FRONT.format(servers=servers, port=port, proxied=PROXIED),
                clients=deployment.clients)
    return port


def haproxy_two(machine: Machine, deployment: Deployment) -> int:
    port, *ports = free_ports(1 + machine.replicas)
    start_nginx_caches(machine, deployment, ports)
    servers = "\n".join(f"  server cache-{index} 127.0.0.1:{each}"
                        for index, each in enumerate(ports))
    config = machine.directory / f"{deployment.name}.cfg"
    config.write_text(HAPROXY.format(port=port, servers=servers,
                                     clients=deployment.clients), encoding="utf-8")
    deployment.group.start("front", [machine.programs["haproxy"], "-db", "-q", "-f", str(config)],
                           machine.tested_core, config.with_suffix(".log"), [port])
    return port


def varnish_one(machine: Machine, deployment: Deployment) -> int:
    port, = free_ports(1)
    home = machine.directory / deployment.name
    home.mkdir()
    program = home / "all.vcl"
    program.write_text(VARNISH.format(origin=machine.origin), encoding="utf-8")
    # No jail: it would leave root's folder to a user who may not read it. A thread per connection
    # that has something to say; one pool, as there is one core.
    deployment.group.start(
        "caches",
        [machine.programs["varnish"], "-F", "-j", "none", "-a", f"127.0.0.1:{port}",
         "-f", str(program), "-n", str(home / "work"), "-s", f"malloc,{deployment.key.memory}",
         "-p", "thread_pools=1", "-p", "thread_pool_max=5000", "-p", "timeout_idle=3600",
         "-p", "listen_depth=4096"],
        machine.tested_core, home / "out.log", [port])
    return port


STARTS = {
    ("nginx", "one"): nginx_one,
    ("nginx", "two"): nginx_two,
    ("haproxy", "two"): haproxy_two,
    ("varnish", "one"): varnish_one,
}
