"""What processes hold and use, as the kernel counts it."""

import os
import pathlib
import re

from .program import BUILD, Process

MIB = 1024 * 1024


def sanitizers() -> str:
    """By their names, with commas; empty: none."""
    cache = BUILD / "CMakeCache.txt"
    found = re.search(r"^RINGSIDE_SANITIZE:\w+=(\S*)$", cache.read_text(), re.MULTILINE)
    return found[1] if found else ""


def is_sanitized() -> bool:
    """Under sanitizers a process holds more and freed memory stays; nor is it as fast."""
    return bool(sanitizers())


def _status(process: Process, name: str) -> int:
    text = pathlib.Path(f"/proc/{process.child.pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)[1]) * 1024


def resident_bytes(process: Process) -> int:
    return _status(process, "VmRSS")


def peak_resident_bytes(process: Process) -> int:
    """The most it has ever held."""
    return _status(process, "VmHWM")


def cpu_s(process: Process) -> float:
    """Of all its threads, since it began."""
    text = pathlib.Path(f"/proc/{process.child.pid}/stat").read_text()
    ticks = text.rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


class Growth:
    """How much more each of some processes has held since this was made."""

    def __init__(self, *processes: Process):
        self.before = {process: resident_bytes(process) for process in processes}

    def bytes(self) -> list[int]:
        return [peak_resident_bytes(process) - held for process, held in self.before.items()]
