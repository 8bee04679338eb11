"""The Debian package, installed by apt in a clean Debian that has nothing else."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from support import Tier, program, wait_until
from support.memory import is_sanitized

ROOT = pathlib.Path(os.environ["RINGSIDE_ROOT"])
BUILD = pathlib.Path(os.environ["RINGSIDE_BUILD"])
DEBIAN = ROOT / "scripts/debian"
OWN_FOLDERS = ("etc/ringside", "var/lib/ringside", "var/log/ringside", "usr/share/doc/ringside")

# As the unit starts it: as the package's user, in the clean Debian and nowhere else. Each program
# takes the place of the one before, so that whoever ends the first ends ringside.
ENTER = """#!/bin/sh
exec unshare --mount sh -c '
  mount -t proc proc {root}/proc || exit 125
  exec chroot --userspec={user} {root} /usr/bin/ringside "$@"
' sh "$@"
"""


def run(*command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


SUITE = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.M)
# Where this machine has its packages from: it may reach no other place.
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
MIRRORS = [path for path in SOURCES if os.path.isfile(path) and os.path.getsize(path) > 0][:1]


def why_not() -> str:
    """Why the package can't be made and installed here; empty: it can."""
    if is_sanitized():
        return "what is packaged is the Release build"
    if not (BUILD / "share/ringside/country.mmdb").is_file():
        return f"{BUILD} has no country database, and the package must: run scripts/build"
    if not shutil.which("mmdebstrap"):
        return "there is no mmdebstrap: run scripts/setup --test"
    if os.getuid():
        return "a root is made, mounted and entered by root"
    with tempfile.TemporaryDirectory() as folder:
        tried = subprocess.run(
            ["unshare", "--mount", "sh", "-ec",
             'mount -t tmpfs none "$1"; mknod "$1/null" c 1 3; mount -t proc proc "$1"', "sh", folder],
            capture_output=True, check=False,
        )  # fmt: skip
    if tried.returncode != 0:
        return f"no root can be made here: {tried.stderr.decode().strip()}"
    return "" if SUITE else "this is no release of Debian"


WHY_NOT = why_not()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Package(Tier):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="ringside-package-test-")
        cls.addClassCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        folder.chmod(0o755)  # the package's user must get through
        run(ROOT / "scripts/package", "--build", BUILD, "--output", folder)
        (cls.package,) = folder.glob("ringside_*.deb")
        cls.system = folder / "root"
        run(
            "mmdebstrap", "--mode=root", "--variant=apt", "--dpkgopt=force-unsafe-io",
            f"--customize-hook=copy-in {cls.package} /root",
            f'--customize-hook=chroot "$1" apt-get install --yes /root/{cls.package.name}',
            SUITE[1], cls.system, *MIRRORS,
            # apt can't sandbox itself in a folder that only root may enter.
            TMPDIR=str(folder), DEBIAN_FRONTEND="noninteractive",
        )  # fmt: skip
        user = re.search(r"^ringside:x:(\d+):(\d+):.*$", cls.file_text("etc/passwd"), re.M)
        cls.user = user[0]
        enter = folder / "enter"
        enter.write_text(ENTER.format(root=cls.system, user=f"{user[1]}:{user[2]}"))
        enter.chmod(0o755)
        outside, program.PROGRAM = program.PROGRAM, str(enter)
        cls.addClassCleanup(setattr, program, "PROGRAM", outside)

    @classmethod
    def file_text(cls, path: str) -> str:
        return (cls.system / path).read_text(encoding="utf-8")

    def dpkg(self, *words: str) -> str:
        return run(
            "unshare", "--mount", "sh", "-c",
            f'mount -t proc proc {self.system}/proc && exec chroot {self.system} dpkg "$@"',
            "sh", *words, DEBIAN_FRONTEND="noninteractive",
        )  # fmt: skip

    def left(self) -> list[str]:
        """What is in the clean Debian that bears our name, but for the package itself."""
        found = (path.relative_to(self.system) for path in self.system.rglob("*ringside*"))
        return sorted(str(path) for path in found if not str(path).startswith(("root/", "var/lib/dpkg")))

    def test_its_user_can_only_run_it(self) -> None:
        self.assertRegex(self.user, r":/nonexistent:/usr/sbin/nologin$")

    def test_the_configuration_that_comes_along_is_valid_for_that_user(self) -> None:
        done = program.ringside("up", "--config", "/etc/ringside/up.yaml", "--validate")
        self.assertEqual(done.stderr, "")

    def test_the_unit_starts_what_is_installed(self) -> None:
        unit = self.file_text("lib/systemd/system/ringside@.service")
        started = re.search(r"^ExecStart=/(\S+) %i --config /(\S+)/%i.yaml$", unit, re.M)
        self.assertTrue(os.access(self.system / started[1], os.X_OK))
        self.assertTrue((self.system / started[2] / "up.yaml").is_file())
        self.assertFalse(list((self.system / "etc/systemd").rglob("ringside*")), "it is enabled")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_the_unit_is_confined(self) -> None:
        run(
            "systemd-analyze", "security", "--offline=true", "--threshold=20",
            f"--root={self.system}", "ringside@up.service",
        )  # fmt: skip

    def test_an_application_is_cached_after_one_line_is_changed(self) -> None:
        source = self.origin()
        file = self.system / "etc/ringside/up.yaml"
        text = file.read_text()
        self.addCleanup(file.write_text, text)
        self.assertEqual(text.count("http://127.0.0.1:8000"), 1)
        file.write_text(text.replace("http://127.0.0.1:8000", source.url))
        tier = self.start("up", "--config", "/etc/ringside/up.yaml")
        for expected in ("miss", "hit"):
            answer = tier.get("/hello", client="81.2.69.160")
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.is_hit, expected == "hit", answer.cache_status)
        self.assertEqual(source.count("/hello"), 1)
        self.assertEqual(source.requests[-1].field("X-Country"), "GB")  # its own database
        tier.signal(signal.SIGTERM)
        self.assertEqual(tier.wait(), 0, tier.err)

    def test_the_first_hour_of_two_hosts(self) -> None:
        """A replica and a sidecar on each, and ten commands of the README in its order. The third
        replica is on a host of its own that comes later."""
        key = self.system / "etc/ringside/peer.key"
        key.write_text("0123456789abcdef" * 4 + "\n")
        self.addCleanup(key.unlink)
        key.chmod(0o640)
        shutil.chown(key, 0, int(self.user.split(":")[3]))
        common = ("--peer-key-file", "/etc/ringside/peer.key")
        source = self.origin()
        replicas = self.caches(3, source, *common, "--purge-from", "127.0.0.0/8")
        named = [f"{replica.name}={replica.address}" for replica in replicas]
        fronts = [
            self.start("sidecar", "--replicas", ",".join(named[:2]), "--trust", "127.0.0.0/8", *common)
            for _ in range(2)
        ]
        for front in fronts:
            wait_until(lambda front=front: front.readyz().status == 200, "a sidecar to be ready")
        two = ",".join(one.admin for one in (*replicas[:2], *fronts))
        three = ",".join(one.admin for one in (*replicas, *fronts))
        host = fronts[0].address
        url = f"http://{host}/page"
        get = json.dumps({
            "version": 2, "scheme": "ring",
            "members": [{"name": one.name, "address": one.address} for one in replicas[:2]],
        })  # fmt: skip

        for words, stdin, said in (
            (("topology", "set", "-", "--admin", two), get, r"(?s)(taken      by \S+: version 2, id .*){4}"),
            (("status", "--admin", two), None, r"  cache-1 +\d+\.\d % "),
            (("shard", "--replicas", ",".join(named[:2]), "--ip", "81.2.69.160", url), None, "GB /page .* cache-"),
            (("explain", url, "--ip", "127.0.0.1", "--admin", fronts[0].admin), None, r"verdict    miss by cache-"),
            (("plan", "--to", ",".join(named), "--admin", three), None, "replicas   2 -> 3"),
            (("topology", "add", named[2], "--admin", three), None, r"(?s)(taken      by \S+: version 3, id .*){5}"),
            (("explain", url, "--ip", "127.0.0.1", "--admin", fronts[1].admin), None, r"verdict    (hit|peer_fill) by cache-"),
            (("purge", url, "--admin", fronts[1].admin), None, f"removed    1 of {url}\n"),
            (("purge", "--prefix", f"http://{host}/", "--admin", fronts[1].admin), None, "removed    4 of all that"),
            (("purge", "--all", "--admin", fronts[1].admin), None, "removed    1 of everything\n"),
        ):  # fmt: skip
            with self.subTest(words=words[:3]):
                self.assertRegex(program.ringside(*words, stdin=stdin).stdout, said)
            if words[:2] == ("topology", "add"):
                away = "ringside_buckets_away"
                wait_until(lambda: not any(one.metric(away) for one in replicas), "all to have moved")
            if words[0] == "plan":  # an application's pages, through either sidecar, and once more
                for _ in range(2):
                    for number, front in enumerate(fronts * 5):
                        target = f"/{number // 2}" if number >= 2 else "/page"
                        self.assertEqual(front.get(target, Host=host).status, 200)
                fronts[0].get("/page", Host="other.example")
                self.assertEqual(source.count(), 6)

    def test_what_was_configured_outlives_all_but_a_purge(self) -> None:
        again = ("--install", f"/root/{self.package.name}")
        self.addCleanup(self.dpkg, *again)
        file = self.system / "etc/ringside/up.yaml"
        file.write_text(file.read_text() + "# changed\n")
        self.dpkg("--remove", "ringside")
        self.assertEqual(self.left(), ["etc/logrotate.d/ringside", "etc/ringside"])
        self.dpkg(*again)
        self.assertIn("# changed\n", file.read_text())
        for folder in OWN_FOLDERS[1:3]:
            (self.system / folder).mkdir()
        self.dpkg("--purge", "ringside")
        self.assertEqual(self.left(), [])
        self.assertNotIn("ringside", self.file_text("etc/passwd"))

    def test_documents_and_licences_come_along(self) -> None:
        for name in ("doc/ringside/copyright", "doc/ringside/configuration.md", "man/man1/ringside.1.gz",
                     "bash-completion/completions/ringside", "ringside/country.LICENSE"):  # fmt: skip
            self.assertTrue((self.system / "usr/share" / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
