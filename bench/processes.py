"""Processes under test: started on one core, watched until they listen, ended whatever happens."""

import os
import pathlib
import signal
import socket
import subprocess
import time

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 10.0
QUIET_SHARE = 0.1  # of one core that others may take while we measure
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    """Something that ends the benchmark; the message is for the user."""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now. They are free until somebody else takes them."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def stat_of(pid: int) -> tuple[int, int] | None:
    """(parent's id, user+system ticks of all threads), None where it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold spaces
    return int(fields[1]), int(fields[11]) + int(fields[12])


class Process:
    """One server, with the processes that it starts itself (nginx's workers)."""

    def __init__(self, command: list[str], core: int, log: pathlib.Path, ports: list[int]):
        self.command = command
        self.log = log
        self.ports = ports
        with log.open("wb") as out:
            # A session of its own: Ctrl-C is for us, and we end it in order.
            self.handle = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, {core}),
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
    """The processes of one case. Use as a context: they end with it."""

    def __init__(self) -> None:
        self.processes: list[Process] = []

    def __enter__(self) -> "Group":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, command: list[str], core: int, log: pathlib.Path, ports: list[int]) -> Process:
        process = Process(command, core, log, ports)
        self.processes.append(process)
        process.wait_until_it_listens()
        return process

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.stop()
        for process in self.processes:
            process.wait()
        self.processes.clear()

    def pids(self) -> list[int]:
        """All processes of the group now, with their children."""
        own = {process.handle.pid for process in self.processes}
        parents = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (stat := stat_of(int(entry))):
                parents[int(entry)] = stat[0]
        # nginx is two levels deep: a master and its workers.
        return sorted(pid for pid in parents if pid in own or parents[pid] in own)

    def cpu_ticks(self) -> dict[int, int]:
        """User and system time of each process since its start, in ticks of 1/TICKS_PER_S s."""
        return {pid: stat[1] for pid in self.pids() if (stat := stat_of(pid))}


def busy_us() -> float:
    """What all processes of the machine, and its neighbours on the host, have had of its cores.

    Interrupts are in it, as they are in the times of processes (but with IRQ_TIME_ACCOUNTING)."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) * 1e6 / TICKS_PER_S


def own_us() -> float:
    """What this script has had, and its children that have ended (wrk; servers only at the end)."""
    times = os.times()
    return (times.user + times.system + times.children_user + times.children_system) * 1e6


def wait_for_quiet(deadline: float) -> None:
    """Returns when a second went by in which the machine had little to do, or at the deadline."""
    while time.monotonic() < deadline:
        before = busy_us()
        time.sleep(1)
        if busy_us() - before < QUIET_SHARE * 1e6:
            return


def cpu_us_between(before: dict[int, int], after: dict[int, int]) -> float:
    ticks = sum(after[pid] - before.get(pid, 0) for pid in after)
    return ticks * 1e6 / TICKS_PER_S
