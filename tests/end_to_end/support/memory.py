"""What processes hold, as the kernel counts it."""

import pathlib
import re

from .program import BUILD, Process

MIB = 1024 * 1024


def is_sanitized() -> bool:
    """Under sanitizers a process holds more and freed memory stays; nor is it as fast."""
    cache = BUILD / "CMakeCache.txt"
    return bool(re.search(r"^RINGSIDE_SANITIZE:\w+=\S", cache.read_text(), re.MULTILINE))


def _status(process: Process, name: str) -> int:
    text = pathlib.Path(f"/proc/{process.child.pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)[1]) * 1024


def resident_bytes(process: Process) -> int:
    return _status(process, "VmRSS")


def peak_resident_bytes(process: Process) -> int:
    """The most it has ever held."""
    return _status(process, "VmHWM")


class Growth:
    """How much more each of some processes has held since this was made."""

    def __init__(self, *processes: Process):
        self.before = {process: resident_bytes(process) for process in processes}

    def bytes(self) -> list[int]:
        return [peak_resident_bytes(process) - held for process, held in self.before.items()]
