"""As the first process of a container: signals that the kernel keeps from it, and orphans."""

import os
import pathlib
import signal
import subprocess
import unittest

from support import WAIT_S, Tier, wait_until
from support.program import PROGRAM, die_with_parent

# A process namespace of its own with its own /proc, and in it a shell that becomes the program. Its
# child leaves an orphan, which ends when it is told to; SIGCHLD as a shell leaves it to programs.
NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
ORPHAN = '(sh -c \'read -r line <"$0"\' "$0" & ) ; exec "$@"'


def why_not() -> str:
    """Why there are no process namespaces here; empty where there are."""
    try:
        done = subprocess.run(
            [*NAMESPACE, "true"], capture_output=True, text=True, timeout=WAIT_S, check=False
        )
    except FileNotFoundError as failure:
        return str(failure)
    return done.stderr.strip() or f"exit code {done.returncode}" if done.returncode else ""


WHY_NOT = why_not()


def children(parent: int) -> dict[int, str]:
    """The processes whose parent it is, and their states: R, S, Z …"""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        if int(fields[1]) == parent:
            found[int(stat.parent.name)] = fields[0]
    return found


def number_within(pid: int) -> int:
    """The process's number in its own namespace."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    raise AssertionError(f"/proc/{pid}/status has no NSpid")


@unittest.skipIf(WHY_NOT, f"process namespaces can't be made here: {WHY_NOT}")
class FirstProcess(Tier):
    def setUp(self):
        super().setUp()
        self.word = self.folder / "end"
        os.mkfifo(self.word)
        self.out = self.folder / "out"
        with self.out.open("wb") as out:
            self.namespace = subprocess.Popen(
                [*NAMESPACE, "sh", "-c", ORPHAN, str(self.word), PROGRAM, "cache",
                 "--name", "cache-0", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                 "--origin", "http://127.0.0.1:9", "--threads", "1", "--memory", "1MiB"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                preexec_fn=die_with_parent,
            )  # fmt: skip
        self.addCleanup(self.end_namespace)
        wait_until(lambda: "admin on" in self.said(), "it to listen")
        (self.first,) = children(self.namespace.pid)

    def end_namespace(self) -> None:
        if self.namespace.poll() is None:
            for pid in children(self.namespace.pid):
                os.kill(pid, signal.SIGKILL)
        self.namespace.wait(WAIT_S)

    def said(self) -> str:
        return self.out.read_text()

    def test_it_is_the_first_process(self):
        self.assertEqual(number_within(self.first), 1)
        self.assertEqual(os.readlink(f"/proc/{self.first}/exe"), os.path.realpath(PROGRAM))

    def test_orphans_that_end_leave_nothing(self):
        ((orphan, state),) = children(self.first).items()
        self.assertNotEqual(state, "Z")
        self.word.write_text("end\n")  # waits until the orphan reads
        wait_until(lambda: not pathlib.Path(f"/proc/{orphan}").exists(), "the orphan to be gone")
        self.assertEqual(children(self.first), {})

    def test_sigterm_drains_it_and_it_exits_with_0(self):
        os.kill(self.first, signal.SIGTERM)
        self.assertEqual(self.namespace.wait(WAIT_S), 0, self.said())
        self.assertIn("draining: no new connections", self.said())

    def test_sighup_reloads_it_and_sigpipe_does_nothing(self):
        os.kill(self.first, signal.SIGPIPE)
        os.kill(self.first, signal.SIGHUP)
        wait_until(lambda: "reloaded: " in self.said(), "it to reload")
        os.kill(self.first, signal.SIGINT)
        self.assertEqual(self.namespace.wait(WAIT_S), 0, self.said())


if __name__ == "__main__":
    unittest.main()
