"""What keeps the program from starting: one line on stderr with the remedy, and the exit code. And
who is told that it has started."""

import os
import pathlib
import socket
import subprocess
import unittest

from support import PROGRAM, WAIT_S, Process, Tier, ringside, wait_until

FAILURE, WRONG_USAGE = 1, 2
NOBODY = 65534
LOWEST_FREE_PORT = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")


class Start(Tier):
    def setUp(self):
        super().setUp()
        self.cache = ["cache", "--name", "cache-0", "--origin", "http://127.0.0.1:9"]
        # One that is there: a sidecar may warn of its replica before it ends.
        replica = self.start(*self.cache).address
        self.sidecar = ["sidecar", "--replicas", f"cache-0={replica}", "--geo", self.countries()]
        self.sidecar += ["--insecure-peers"]
        self.up = ["up", "--replicas", "1", "--geo", self.countries()]

    def fails(self, code: int, *arguments, part: str, remedy: str, user=None) -> None:
        arguments = [str(argument) for argument in arguments]
        for option in ("--listen", "--admin"):
            if option not in arguments:
                arguments += [option, "127.0.0.1:0"]
        with self.subTest(" ".join(arguments)):
            done = subprocess.run(
                [PROGRAM, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=WAIT_S,
                check=False,
                user=user,
                extra_groups=None if user is None else [],
            )
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, rf"\Aringside {arguments[0]}: [^\n]+\n\Z")
            self.assertIn(part, done.stderr)
            self.assertIn(remedy, done.stderr)

    def without_privileges(self):
        """The user to run as who may not do everything; skips where there is none."""
        if os.geteuid() != 0:
            return None
        try:
            subprocess.run([PROGRAM, "version"], user=NOBODY, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("the program is where only root can reach it")
        return NOBODY

    def each_kind(self):
        return self.cache, self.sidecar, self.up

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            for kind in self.each_kind():
                for option in ("--listen", "--admin"):
                    self.fails(
                        FAILURE, *kind, option, address,
                        part=f"{option}: cannot listen on {address}", remedy="or choose another port",
                    )  # fmt: skip

    def test_a_port_without_the_permission(self):
        if int(LOWEST_FREE_PORT.read_text()) <= 1:
            self.skipTest("here every port is everybody's")
        user = self.without_privileges()
        self.folder.chmod(0o755)
        for option in ("--listen", "--admin"):
            self.fails(
                FAILURE, *self.up, option, "127.0.0.1:1",
                part="cannot listen on 127.0.0.1:1", remedy="choose a port", user=user,
            )  # fmt: skip

    def test_an_address_of_another_machine(self):
        for option in ("--listen", "--admin"):
            self.fails(
                FAILURE, *self.cache, option, "192.0.2.1:8080",
                part="cannot listen on 192.0.2.1:8080", remedy="choose",
            )  # fmt: skip

    def test_a_name_to_listen_on_is_wrong_usage(self):
        for kind in self.each_kind():
            for option in ("--listen", "--admin"):
                self.fails(
                    WRONG_USAGE, *kind, option, "www.example.com:8080",
                    part=f"{option}: www.example.com is a name",
                    remedy="give an IP address, such as 0.0.0.0 or [::]",
                )  # fmt: skip
        path = self.file("tier.yaml", "scheme: ring\nlisten: www.example.com:8080\n")
        done = ringside("up", "--config", path, "--validate", expect=WRONG_USAGE)
        self.assertIn(f"{path}:2: listen: www.example.com is a name", done.stderr)

    def test_files_that_cannot_be_read(self):
        missing, folder = self.folder / "missing", self.folder / "folder"
        folder.mkdir()
        torn = self.folder / "torn"
        torn.write_bytes(self.countries().read_bytes()[:100])
        for option, path, remedy in (
            ("--config", missing, "name a configuration file that can be read"),
            ("--config", folder, "name a configuration file that can be read"),
            ("--geo", missing, "check the path"),
            ("--geo", folder, "name the .mmdb file itself"),
            ("--geo", torn, "download it again"),
            ("--access-log", missing / "log", "name a file that can be written to"),
            ("--access-log", folder, "name a file that can be written to"),
            ("--origin-ca", missing, "No such file or directory; give a file with certificates"),
            ("--origin-ca", torn, "give a file with certificates"),
        ):
            up = self.up[:3] if option == "--geo" else self.up
            up = [*up, "--origin", "https://127.0.0.1:9"] if option == "--origin-ca" else up
            for ending in ([], ["--validate"]):  # which once found nothing wrong with the last four
                self.fails(WRONG_USAGE, *up, option, path, *ending, part=str(path), remedy=remedy)

    def test_a_start_that_would_warn_was_valid_without_a_word(self):
        key = self.file("key", "0123456789abcdef" * 4)
        key.chmod(0o644)
        done = ringside(
            "sidecar", "--replicas", "cache-0=127.0.0.1:9", "--geo", self.countries(),
            "--listen", "127.0.0.1:0", "--trust", "10.0.0.0/8", "--peer-key-file", key,
            "--validate",
        )  # fmt: skip
        self.assertIn("the configuration is valid", done.stdout)
        self.assertIn(f"every user of this machine can read {key}", done.stderr)
        self.assertIn("every client is in country ZZ; give --trust 127.0.0.0/8", done.stderr)

    def test_files_without_the_permission(self):
        user = self.without_privileges()
        self.folder.chmod(0o755)
        for option, remedy in (
            ("--config", "name a configuration file that can be read"),
            ("--geo", "check the path"),
            ("--access-log", "name a file that can be written to"),
        ):
            path = self.file("secret", "scheme: ring\n")
            path.chmod(0)
            up = self.up[:3] if option == "--geo" else self.up
            self.fails(
                WRONG_USAGE, *up, option, path,
                part=f"{path}: ", remedy=remedy, user=user,
            )  # fmt: skip

    def test_a_service_manager_is_told_once_it_listens(self):
        for kind in ("cache", "up"):
            with self.subTest(kind), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                path = self.folder / kind
                manager.bind(str(path))
                manager.settimeout(WAIT_S)
                process = self.started_by(str(path), *getattr(self, kind))
                self.assertEqual(manager.recv(64), b"READY=1")
                self.assertEqual(process.administer("GET", "/livez").status, 200)
                self.assertNotIn("NOTIFY_SOCKET", process.err)

    def test_a_service_manager_that_is_not_there_is_a_warning(self):
        for path, reason in (("/nowhere/socket", "No such file"), ("/" + "a" * 200, "too long")):
            process = self.started_by(path, *self.cache)
            wait_until(lambda: "NOTIFY_SOCKET names" in process.err, "the warning")
            self.assertIn(reason, process.err)
            self.assertIn("unset it", process.err)

    def started_by(self, manager: str, *arguments) -> Process:
        process = Process(*arguments, within=("env", f"NOTIFY_SOCKET={manager}"))
        self.addCleanup(process.stop)
        return process


if __name__ == "__main__":
    unittest.main()
