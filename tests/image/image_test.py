"""The container image: what is in it, what is not, and that it runs as a stranger who may write
nothing."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["RINGSIDE_ROOT"])
BUILD = pathlib.Path(os.environ["RINGSIDE_BUILD"])
DATE = 1_700_000_000
STRANGER = 65532

sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from support import Tier, program  # noqa: E402

# With mounts of its own: the image, which nobody can write to, and /proc, as in a container. Each
# program takes the place of the one before, so that whoever ends the first ends ringside.
ENTER = """#!/bin/sh
exec unshare --mount sh -c '
  mount --bind {image} {image} && mount -t proc proc {image}/proc &&
  mount -o remount,bind,ro {image} || exit 125
  exec chroot --userspec={stranger}:{stranger} {image} /usr/bin/ringside "$@"
' sh "$@"
"""


def call(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [ROOT / "scripts" / script, *map(str, arguments)],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def made(folder: pathlib.Path) -> pathlib.Path:
    done = call("image-root", "--build", BUILD, "--date", DATE, folder)
    if done.returncode != 0:
        raise AssertionError(done.stdout)
    return folder


def version() -> str:
    return re.search(r"project\(ringside VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def is_elf(path: pathlib.Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def fingerprint(folder: pathlib.Path) -> dict[str, tuple]:
    """Of everything in it: mode, date, contents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        if path.is_symlink():
            contents = os.readlink(path)
        elif path.is_file():
            contents = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            contents = ""
        found[str(path.relative_to(folder))] = (state.st_mode, state.st_mtime, contents)
    return found


@unittest.skipUnless(
    (BUILD / "share/ringside/country.LICENSE").is_file(),
    f"{BUILD} has no country database with its licence, and an image must: run scripts/build",
)
class ImageTest(Tier):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="ringside-image-test-")
        cls.addClassCleanup(temporary.cleanup)
        # As whoever builds images may have it: nobody else may read.
        before = os.umask(0o077)
        cls.addClassCleanup(os.umask, before)
        cls.image = made(pathlib.Path(temporary.name) / "image")
        os.umask(before)


class Contents(ImageTest):
    def files(self) -> list[pathlib.Path]:
        return [path for path in self.image.rglob("*") if path.is_file() and not path.is_symlink()]

    def name(self, path: pathlib.Path) -> str:
        return str(path.relative_to(self.image))

    def test_ringside_is_all_that_can_be_run(self) -> None:
        libraries = re.compile(r"usr/lib(64|/[\w-]+)?/(ld-linux[\w.-]*|lib[\w.+-]+)\.so\.[\d.]+")
        can_run = [self.name(path) for path in self.files() if path.stat().st_mode & 0o111]
        others = [name for name in can_run if not libraries.fullmatch(name)]
        self.assertEqual(others, ["usr/bin/ringside"])
        self.assertGreater(len(can_run), 10)
        for name in can_run:
            self.assertTrue(is_elf(self.image / name), name)

    def test_nobody_gains_rights_and_strangers_write_nothing(self) -> None:
        owners = set()
        for path in [self.image, *self.image.rglob("*")]:
            state = path.lstat()
            owners.add(state.st_uid)
            if path.is_symlink():
                continue
            self.assertEqual(state.st_mode & (stat.S_ISUID | stat.S_ISGID), 0, path)
            self.assertEqual(state.st_mode & 0o022, 0, path)
            self.assertNotIn("security.capability", os.listxattr(path), path)
        self.assertEqual(owners, {os.getuid()})

    def test_everybody_reads_everything(self) -> None:
        for path in [self.image, *self.image.rglob("*")]:
            if not path.is_symlink():
                needed = 0o555 if path.is_dir() else 0o444
                self.assertEqual(path.stat().st_mode & needed, needed, path)

    def test_links_lead_somewhere_in_it(self) -> None:
        links = [path for path in self.image.rglob("*") if path.is_symlink()]
        self.assertGreater(len(links), 2)
        for path in links:
            target = os.readlink(path)
            base = self.image if target.startswith("/") else path.parent
            end = base / target.lstrip("/")
            self.assertTrue(end.exists(), f"{path} -> {target}")
            self.assertTrue(end.resolve().is_relative_to(self.image.resolve()), path)

    def test_nothing_is_there_for_debuggers(self) -> None:
        headers = subprocess.check_output(
            ["readelf", "--sections", "--wide", self.image / "usr/bin/ringside"], text=True
        )
        self.assertIn(".text", headers)
        self.assertNotIn(".debug", headers)
        self.assertNotIn(".symtab", headers)

    def test_the_licence_of_everything_is_there(self) -> None:
        for name in ("share/ringside/country.LICENSE", "share/doc/ringside/LICENSE"):
            self.assertGreater((self.image / "usr" / name).stat().st_size, 100, name)
        packages = {path.name for path in (self.image / "var/lib/dpkg/status.d").iterdir()}
        self.assertLess({"libc6", "libstdc++6", "libssl3", "ca-certificates"}, packages)
        for package in packages:
            papers = (self.image / "usr/share/doc" / package / "copyright").read_text()
            self.assertGreater(len(papers), 100, package)
            for licence in re.findall(r"/usr/share/common-licenses/[\w.-]*\w", papers):
                self.assertTrue((self.image / licence[1:]).is_file(), licence)

    def test_two_calls_make_the_same(self) -> None:
        again = made(self.folder / "again")
        self.assertEqual(fingerprint(self.image), fingerprint(again))
        self.assertEqual({state[1] for state in fingerprint(again).values()}, {DATE})

    def test_a_folder_that_is_there_is_left_alone(self) -> None:
        done = call("image-root", "--build", BUILD, self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("name a new folder", done.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_missing_is_named_with_its_remedy(self) -> None:
        build = self.folder / "build"
        (build / "share/ringside").mkdir(parents=True)
        for file in ("ringside", "share/ringside/country.mmdb"):
            done = call("image-root", "--build", build, self.folder / "image")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertRegex(done.stdout, rf"there is no \S+/{file}: run scripts/build")
            shutil.copy(BUILD / file, build / file)
        done = call("image-root", "--build", build, self.folder / "image")
        self.assertRegex(done.stdout, r"there is no \S+/country.LICENSE, without which")
        self.assertFalse((self.folder / "image").exists())


@unittest.skipIf(os.getuid(), "chroot and mount are for root")
class Running(ImageTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        (cls.image / "proc").mkdir()  # a container's runtime makes it
        cls.enter = cls.image.parent / "enter"
        cls.enter.write_text(ENTER.format(image=cls.image, stranger=STRANGER))
        cls.enter.chmod(0o755)
        # mkdtemp's folder is for us alone; in a container the way to the root has no folders.
        cls.image.parent.chmod(0o755)
        outside, program.PROGRAM = program.PROGRAM, str(cls.enter)
        cls.addClassCleanup(setattr, program, "PROGRAM", outside)

    def setUp(self) -> None:
        super().setUp()
        tried = subprocess.run(
            ["unshare", "--mount", "true"], capture_output=True, check=False
        )
        if tried.returncode != 0:
            self.skipTest(f"namespaces can't be made here: {tried.stderr.decode().strip()}")

    def test_every_library_is_found(self) -> None:
        self.assertTrue(program.ringside("version").stdout.startswith(f"ringside {version()}\n"))

    def test_it_serves_as_a_stranger_who_can_write_nothing(self) -> None:
        source = self.origin()
        replica = self.cache("cache-0", source, "--memory", "75%", "--access-log", "-")
        front = self.start(
            "sidecar", "--replicas", f"cache-0={replica.address}", "--trust", "127.0.0.0/8"
        )
        for expected in ("miss", "hit"):
            answer = front.get("/hello", client="81.2.69.160")
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.replica, "cache-0")
            self.assertEqual(answer.is_hit, expected == "hit", answer.cache_status)
        self.assertEqual(source.count("/hello"), 1)
        self.assertEqual(source.requests[-1].field("X-Country"), "GB")
        for process in (front, replica):
            status = pathlib.Path(f"/proc/{process.child.pid}/status").read_text()
            self.assertIn("\nUid:" + f"\t{STRANGER}" * 4 + "\n", status)
            self.assertRegex(status, r"\nCapEff:\t0+\n")
            process.signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0, process.err)

    def test_it_has_no_right_to_write(self) -> None:
        for file in ("/access.log", "/usr/share/ringside/access.log", "/proc/access.log"):
            done = program.ringside("up", "--access-log", file, expect=2)
            self.assertRegex(done.stderr, r"Read-only file system|Permission denied|No such file")


@unittest.skipUnless(shutil.which("buildah"), "there is no buildah: run scripts/setup --image")
@unittest.skipIf(os.getuid(), "scripts/image must be root")
class Archive(ImageTest):
    def archive(self, name: str, *options: str) -> tuple[pathlib.Path, str]:
        path = self.folder / name
        done = call(
            "image", "--build", BUILD, "--output", path, *options,
            SOURCE_DATE_EPOCH=str(DATE), TMPDIR=str(self.folder),
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(list(self.folder.glob("ringside-image.*")), [], "left behind")
        return path, done.stdout

    def test_two_calls_make_the_same_archive_for_kubernetes(self) -> None:
        path, said = self.archive("one.tar")
        again, _ = self.archive("two.tar")
        self.assertEqual(path.read_bytes(), again.read_bytes(), said)
        name = f"docker.io/library/ringside:{version()}"
        self.assertIn(f"{path}: {name}\n", said)

        with tarfile.open(path) as archive:
            (manifest,) = json.load(archive.extractfile("manifest.json"))
            configuration = json.load(archive.extractfile(manifest["Config"]))
            (layer,) = manifest["Layers"]
            with tarfile.open(fileobj=archive.extractfile(layer)) as files:
                members = files.getmembers()
        # containerd and docker write the rest of the name themselves.
        self.assertIn(manifest["RepoTags"], ([name], [f"ringside:{version()}"]))
        self.assertEqual({(file.uid, file.gid) for file in members}, {(0, 0)})
        self.assertEqual({file.mtime for file in members}, {DATE})
        inside = {file.name.rstrip("/") for file in members}
        self.assertLessEqual(set(fingerprint(self.image)), inside)

        told = configuration["config"]
        self.assertEqual(told["User"], f"{STRANGER}:{STRANGER}")
        self.assertEqual(told["Entrypoint"], ["/usr/bin/ringside"])
        self.assertEqual(set(told["ExposedPorts"]), {"8080/tcp", "9090/tcp"})
        self.assertEqual(told["StopSignal"], "SIGTERM")
        labels = {name.removeprefix("org.opencontainers.image."): value
                  for name, value in told["Labels"].items()}  # fmt: skip
        self.assertEqual((labels["version"], labels["licenses"]), (version(), "Apache-2.0"))
        self.assertLess({"title", "description", "revision"}, set(labels))
        self.assertRegex(labels["revision"], r"^([0-9a-f]{40}(-dirty)?)?$")

    def test_names_are_whole(self) -> None:
        for given, whole in (
            ("a:1", "docker.io/library/a:1"),
            ("team/a:1", "docker.io/team/a:1"),
            ("registry.example/a:1", "registry.example/a:1"),
            ("localhost/a:1", "localhost/a:1"),
        ):
            with self.subTest(given):
                self.assertEqual(self.whole(given), whole)

    def whole(self, name: str) -> str:
        script = (ROOT / "scripts/image").read_text()
        function = re.search(r"^whole_name\(\) \{.*?^\}", script, re.MULTILINE | re.DOTALL)[0]
        command = ["bash", "-c", f'{function}\nwhole_name "$1"', "-", name]
        return subprocess.check_output(command, text=True)


class Recipe(unittest.TestCase):
    def test_its_version_is_the_projects(self) -> None:
        recipe = (ROOT / "Dockerfile").read_text()
        self.assertEqual(re.findall(r"^ARG VERSION=(\S+)$", recipe, re.MULTILINE), [version()])


if __name__ == "__main__":
    unittest.main()
