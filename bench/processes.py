"""Processes under test: started on one core, watched until they listen, ended whatever happens."""

import contextlib
import dataclasses
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 10.0
QUIET_SHARE = 0.1  # of one core that others may take while we measure
NOT_OF_CONNECTIONS = range(10_240, 32_768)  # below net.ipv4.ip_local_port_range, as Linux comes
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    """Something that ends the benchmark; the message is for the user."""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now. They are free until somebody else takes them: so they are
    none of those that the kernel gives to connections, which a busy machine takes in a moment."""
    ports: list[int] = []
    for port in random.sample(NOT_OF_CONNECTIONS, len(NOT_OF_CONNECTIONS)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise OSError(f"there are no {count} free ports")


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclasses.dataclass(frozen=True)
class Usage:
    """What a process has had since its start. The system tells user and system time in ticks of
    1/TICKS_PER_S s, both together in ns."""

    cpu_ns: int = 0
    user_ticks: int = 0
    system_ticks: int = 0
    switches: int = 0  # of context, whether it waited or was pushed aside

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(a + b for a, b in zip(self.values(), other.values())))

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(*(a - b for a, b in zip(self.values(), other.values())))

    def values(self) -> tuple[int, ...]:
        return dataclasses.astuple(self)

    def cpu_us(self) -> float:
        return self.cpu_ns / 1e3

    def user_us(self) -> float:
        ticks = self.user_ticks + self.system_ticks
        return self.cpu_us() * self.user_ticks / ticks if ticks else 0.0


def read(path: str) -> str | None:
    """None where the process has ended."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None


def parent_of(pid: int) -> int | None:
    text = read(f"/proc/{pid}/stat")
    return int(text.rpartition(")")[2].split()[1]) if text else None  # the name may hold spaces


def switches_in(status: str) -> int:
    return sum(int(line.split()[1]) for line in status.splitlines()
               if line.startswith(("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")))


def usage_of(pid: int) -> Usage | None:
    """None where it has ended."""
    text = read(f"/proc/{pid}/stat")
    if text is None:
        return None
    fields = text.rpartition(")")[2].split()
    try:
        # The clock of another process's CPU time, see clock_getcpuclockid(3) and its sources.
        cpu_ns = time.clock_gettime_ns((~pid << 3) | 2)
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    switches = sum(switches_in(read(f"/proc/{pid}/task/{thread}/status") or "")
                   for thread in threads)
    return Usage(cpu_ns, int(fields[11]), int(fields[12]), switches)


def pss_kib(pid: int) -> int:
    """Its memory, what it shares with others counted in shares."""
    text = read(f"/proc/{pid}/smaps_rollup") or ""
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


class Process:
    """One server, with the processes that it starts itself (nginx's workers)."""

    def __init__(self, command: list[str], core: int | set[int], log: pathlib.Path,
                 ports: list[int]):
        self.command = command
        self.log = log
        self.ports = ports
        cores = core if isinstance(core, set) else {core}
        with log.open("wb") as out:
            # A session of its own: Ctrl-C is for us, and we end it in order.
            self.handle = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, cores),
            )

    def wait_until_it_listens(self) -> None:
        end = time.monotonic() + START_TIMEOUT_S
        while not all(listens(port) for port in self.ports):
            if self.handle.poll() is not None:
                raise BenchError(f"{self.command[0]} ended at once, its log says:\n{self.tail()}")
            if time.monotonic() > end:
                raise BenchError(f"{self.command[0]} does not listen on {self.ports}, "
                                 f"its log says:\n{self.tail()}")
            time.sleep(0.02)

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:])

    def stop(self) -> None:
        if self.handle.poll() is None:
            self.handle.send_signal(signal.SIGTERM)

    def wait(self) -> None:
        """After stop(). What does not end in time is killed, its children too."""
        try:
            self.handle.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.handle.pid, signal.SIGKILL)
            self.handle.wait()


class Group:
    """The processes of one deployment, each of a hop. Use as a context: they end with it."""

    def __init__(self) -> None:
        self.processes: list[Process] = []
        self.hops: dict[int, str] = {}

    def __enter__(self) -> "Group":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, hop: str, command: list[str], core: int, log: pathlib.Path,
              ports: list[int]) -> Process:
        process = Process(command, core, log, ports)
        self.processes.append(process)
        self.hops[process.handle.pid] = hop
        process.wait_until_it_listens()
        return process

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.stop()
        for process in self.processes:
            process.wait()
        self.processes.clear()
        self.hops.clear()

    def pids(self) -> dict[int, str]:
        """All processes of the group now, with their children, and the hop of each."""
        found = dict(self.hops)
        for entry in os.listdir("/proc"):
            # nginx and Varnish are two levels deep: a master and its workers.
            if entry.isdigit() and (parent := parent_of(int(entry))) in self.hops:
                found[int(entry)] = self.hops[parent]
        return found

    def usage(self) -> dict[int, tuple[str, Usage]]:
        """Of each process its hop and what it has had."""
        return {pid: (hop, used) for pid, hop in self.pids().items() if (used := usage_of(pid))}

    def pss_mib(self) -> float:
        return sum(pss_kib(pid) for pid in self.pids()) / 1024


def used_between(before: dict[int, tuple[str, Usage]],
                 after: dict[int, tuple[str, Usage]]) -> dict[str, Usage]:
    """What each hop has had in the meantime."""
    hops: dict[str, Usage] = {}
    for pid, (hop, used) in after.items():
        earlier = before[pid][1] if pid in before else Usage()
        hops[hop] = hops.get(hop, Usage()) + (used - earlier)
    return hops


def busy_us() -> float:
    """What all processes of the machine, and its neighbours on the host, have had of its cores.

    Interrupts are in it, as they are in the times of processes (but with IRQ_TIME_ACCOUNTING)."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) * 1e6 / TICKS_PER_S


def stolen_us() -> float:
    """What the machine's neighbours on its host have had of its cores."""
    with open("/proc/stat", encoding="utf-8") as file:
        return int(file.readline().split()[8]) * 1e6 / TICKS_PER_S


def own_us() -> float:
    """What this script and its children that have ended had (wrk; servers that were stopped)."""
    times = os.times()
    return (times.user + times.system + times.children_user + times.children_system) * 1e6


def wait_for_quiet(deadline: float) -> None:
    """Returns when a second went by in which the machine had little to do, or at the deadline."""
    while time.monotonic() < deadline:
        before = busy_us()
        time.sleep(1)
        if busy_us() - before < QUIET_SHARE * 1e6:
            return
