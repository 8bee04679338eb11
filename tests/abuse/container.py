"""Bounds such as a container's: memory, processor time, open files.

As root on a machine with control groups of version 2 they are the kernel's: who takes more memory
is killed. Elsewhere the program is shown such a limit where a mount can do that, and what it held
at most (without what the kernel counts beside) is held against the same bar.
"""

import contextlib
import dataclasses
import functools
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from support import Process
from support.memory import is_sanitized, peak_resident_bytes

GROUPS = pathlib.Path("/sys/fs/cgroup")
PERIOD_US = 100_000
numbers = itertools.count()


@dataclasses.dataclass
class Size:
    memory_bytes: int
    cores: int
    files: int


def own_groups() -> dict[str, str]:
    """By controllers, as /proc/self/cgroup has them; version 2 has the name ""."""
    lines = pathlib.Path("/proc/self/cgroup").read_text().splitlines()
    return {line.split(":", 2)[1]: line.split(":", 2)[2].lstrip("/") for line in lines}


@functools.cache
def parent_of_groups() -> pathlib.Path | None:
    """The nearest group around ours in which one with a memory limit can be made."""
    path = own_groups().get("")
    if os.geteuid() != 0 or path is None or is_sanitized():
        return None
    own = GROUPS / path
    for folder in (own, *own.parents):
        with contextlib.suppress(OSError):
            if "memory" in (folder / "cgroup.subtree_control").read_text().split():
                return folder
        if folder == GROUPS:
            break
    return None


@functools.cache
def shown_limit() -> pathlib.Path | None:
    """The file that tells a process its memory limit, where another can be mounted over it."""
    for controllers, path in own_groups().items():
        if "memory" in controllers.split(","):
            file = GROUPS / "memory" / path / "memory.limit_in_bytes"
        elif controllers == "":
            file = GROUPS / path / "memory.max"
        else:
            continue
        if file.exists() and mounts_over(file):
            return file
    return None


def mounts_over(file: pathlib.Path) -> bool:
    command = ["unshare", "--mount", "mount", "--bind", file, file]
    if not shutil.which(command[0]):
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def is_told() -> bool:
    """Whether a process in a container sees how much memory it may use."""
    return bool(parent_of_groups() or shown_limit())


class Container:
    """For one process; remove() when that has ended."""

    def __init__(self, size: Size):
        self.size = size
        self._folder = tempfile.TemporaryDirectory(prefix="ringside-limit-")
        self._group: pathlib.Path | None = None
        steps = [f"ulimit -n {size.files}"]
        prefix: list[str] = []
        if parent := parent_of_groups():
            self._group = parent / f"ringside-abuse-{os.getpid()}-{next(numbers)}"
            self._make_group()
            steps.append(f'echo $$ > "{self._group}/cgroup.procs"')
            self.how = "a control group"
        elif place := shown_limit():
            limit = pathlib.Path(self._folder.name) / "limit"
            limit.write_text(f"{size.memory_bytes}\n")
            prefix = ["unshare", "--mount"]
            steps.append(f'mount --bind "{limit}" "{place}"')
            self.how = "a limit that is shown and watched"
        else:
            self.how = "a limit that is watched"
        steps.append('exec "$@"')
        self.command = (*prefix, "sh", "-c", " && ".join(steps), "sh")

    def _make_group(self) -> None:
        self._group.mkdir()
        self._write("memory.max", str(self.size.memory_bytes))
        self._write("memory.swap.max", "0")
        self._write("cpu.max", f"{self.size.cores * PERIOD_US} {PERIOD_US}")

    def _write(self, name: str, value: str) -> None:
        file = self._group / name
        if file.exists():  # there may be no swap, or no processor time, to be limited
            file.write_text(value)

    def peak_bytes(self, process: Process) -> int:
        """The most that it has held."""
        peak = self._group / "memory.peak" if self._group else None
        if peak and peak.exists():
            return int(peak.read_text())
        return peak_resident_bytes(process)

    def is_exceeded(self, process: Process) -> bool:
        if process.child.poll() is not None:
            return True
        if self._group:
            events = (self._group / "memory.events").read_text()
            return int(re.search(r"^oom_kill (\d+)$", events, re.MULTILINE)[1]) > 0
        return not is_sanitized() and self.peak_bytes(process) > self.size.memory_bytes

    def remove(self) -> None:
        if self._group:
            self._group.rmdir()
        self._folder.cleanup()
