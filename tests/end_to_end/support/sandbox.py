"""A machine of its own for what the docs print: nobody else's ports, addresses or files.

A shell in namespaces: a network with loopback alone, which has the addresses and names that the docs
use; processes, which end with the shell; /etc in memory, over the machine's.
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from .printed import calls
from .program import PROGRAM, die_with_parent
from .waiting import WAIT_S

NAMESPACES = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
ADDRESSES = ("10.0.0.5", "10.0.0.10", "10.0.0.11", "10.0.0.12")
# The program lies where the build puts it, with its country database; then come the commands.
PROLOGUE = """
set -u
mount -t tmpfs none over && mkdir over/upper over/work
mount -t overlay overlay -o lowerdir=/etc,upperdir=over/upper,workdir=over/work /etc
mkdir -p /etc/ringside
mount --bind "$RINGSIDE" build/ringside
ip link set lo up
for address in {addresses}; do ip address add "$address/32" dev lo; done
export PATH="$PWD/build:$PATH"
"""
# End when what was started in the background listens, and is ready.
READY = "curl --silent --fail --output /dev/null http://{admin}/readyz"
LISTENS = "(: < /dev/tcp/{host}/{port})"
UNTIL = "until {there}; do ((SECONDS < {wait_s})) || break; sleep 0.02; done"
SERVERS = {"up", "sidecar", "cache"}


def shell(folder: pathlib.Path, script: str, program: str) -> subprocess.CompletedProcess:
    for part in ("over", "build/share/ringside"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "build/ringside").touch()
    return subprocess.run(
        [*NAMESPACES, "bash", "-c", PROLOGUE.format(addresses=" ".join(ADDRESSES)) + script],
        cwd=folder,
        env=dict(os.environ, RINGSIDE=program),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S * 2,
        preexec_fn=die_with_parent,
        check=False,
    )


def why_not() -> str:
    """Why no such machine can be made here; empty where it can."""
    with tempfile.TemporaryDirectory(prefix="ringside-test-") as folder:
        try:
            done = shell(pathlib.Path(folder), "", "/bin/true")
        except FileNotFoundError as failure:
            return str(failure)
        return done.stderr.strip()


def option(arguments: list[str], name: str, default: str) -> str:
    return arguments[arguments.index(name) + 1] if name in arguments else default


def wait_for(started: list[str]) -> list[str]:
    """Commands that wait for what was started in the background, as a reader does."""
    waits = []
    for command in started:
        for arguments in calls(command, "ringside"):
            if arguments[:1] and arguments[0] in SERVERS:
                admin = option(arguments, "--admin", "127.0.0.1:9090")
                waits.append(READY.format(admin=admin))
        for arguments in calls(command, "python3"):
            if arguments[:2] == ["-m", "http.server"]:
                host = option(arguments, "--bind", "127.0.0.1")
                waits.append(LISTENS.format(host=host, port=arguments[-1]))
    return [UNTIL.format(there=there, wait_s=WAIT_S) for there in waits]


class Done:
    """What became of one command. Both outputs are one, as on a terminal."""

    def __init__(self, command: str, code: int, said: str):
        self.command, self.code, self.said = command, code, said


def in_background(command: str) -> bool:
    return bool(re.search(r"&\s*(#.*)?$", command))


def run(folder: pathlib.Path, commands: list[str]) -> list[Done]:
    """Runs them in a shell in `folder`, one after the other. Ends all that they started.

    The country database must lie in build/share/ringside/country.mmdb of the folder."""
    script, waiting = "", []
    for number, command in enumerate(commands):
        if waiting and not in_background(command):
            script += "{ " + "; ".join(wait_for(waiting) or ["true"]) + "; } 2>waited\n"
            waiting = []
        script += f"eval {shlex.quote(command)} >said.{number} 2>&1; echo $? >code.{number}\n"
        if in_background(command):
            waiting.append(command)
    done = shell(folder, script, PROGRAM)
    if done.stderr:
        raise AssertionError(done.stderr)
    return [
        Done(
            command,
            int((folder / f"code.{number}").read_text()),
            (folder / f"said.{number}").read_text(),
        )
        for number, command in enumerate(commands)
    ]
