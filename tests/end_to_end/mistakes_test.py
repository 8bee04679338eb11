"""Mistakes that people make, and what they are told, word by word: each message names its remedy."""

import unittest
from typing import NamedTuple

from support import Tier, ringside

LISTEN = ("--listen", "127.0.0.1:0")
INSECURE = ("--insecure-peers",)


class Mistake(NamedTuple):
    """`{folder}` is the test's own folder, `{file}` the one with `text` in it."""

    what: str
    arguments: tuple[str, ...]
    said: str  # all of stderr, or of the answer
    text: str = ""
    code: int = 2


FILE = ("--config", "{file}", "--geo", "{folder}/country.mmdb", "--validate")
ALONE = [
    Mistake(
        "a route for all below a path, as a pattern",
        ("up", *FILE),
        "ringside up: {file}:3: path: /films/* ends with *, which stands for itself here; a route is for all that "
        "lies below its path, so write /films",
        "routes:\n  - name: films\n    path: /films/*\n",
    ),
    Mistake(
        "an access log in a folder that is not there",
        ("up", *FILE),
        "ringside up: {file}:1: access_log: {folder}/nowhere/access.log: No such file or directory; name a file that "
        "can be written to, or - for stdout",
        "access_log: {folder}/nowhere/access.log\n",
    ),
    Mistake(
        "a kubeconfig that can't be read",
        ("sidecar", *LISTEN, *INSECURE, "--kubernetes", "shop/ringside-cache", "--kubeconfig", "{folder}/none", *FILE),
        "ringside sidecar: --kubeconfig: {folder}/none: No such file or directory; name a kubeconfig file that can "
        "be read",
        "shard_key: path\n",
    ),
    Mistake(
        "a rule that stands in the route instead of its cache",
        ("up", *FILE),
        'ringside up: {file}:3: "default_ttl" is no key of a route; write it in cache: {{default_ttl: …}}',
        "routes:\n  - name: films\n    default_ttl: 1h\n",
    ),
    Mistake(
        "a rule that stands at the top",
        ("up", *FILE),
        'ringside up: {file}:1: "ttl_by_status" is no key of the configuration; write it in cache: '
        "{{ttl_by_status: …}}",
        "ttl_by_status: {{404: 10s}}\n",
    ),
    Mistake(
        "an option that stands among the rules",
        ("up", *FILE),
        'ringside up: {file}:2: "trust" is no key of cache; write it at the top of the file',
        "cache:\n  trust: 10.0.0.0/8\n",
    ),
    Mistake(
        "a key of a route that stands at the top",
        ("up", *FILE),
        'ringside up: {file}:1: "near_ttl" is no key of the configuration; write it in one of the routes',
        "near_ttl: 1s\n",
    ),
    Mistake(
        "a mistyped key",
        ("up", *FILE),
        'ringside up: {file}:1: "drain_deadlin" is no key of the configuration; did you mean drain_deadline?',
        "drain_deadlin: 30s\n",
    ),
    Mistake(
        "a mistyped method",
        ("up", *FILE),
        'ringside up: {file}:3: methods: "GTE" is no method that is known; did you mean GET?',
        "routes:\n  - name: a\n    methods: [GTE]\n  - name: rest\n",
    ),
    Mistake(
        "an expression that no path matches",
        ("up", *FILE),
        'ringside up: {file}:3: path_regex: "films/.*" matches no path, since every path begins with /; write such as '
        "/films/[0-9]+",
        "routes:\n  - name: a\n    path_regex: films/.*\n  - name: rest\n",
    ),
    Mistake(
        "a tab in the place of blanks",
        ("up", *FILE),
        "ringside up: {file}:2: a tab before the first word; YAML is indented by blanks",
        "cache:\n\tstale_if_error: 1h\n",
    ),
    Mistake(
        "a process that is to follow itself",
        ("sidecar", *LISTEN, *INSECURE, "--replicas", "cache-0=h:1", "--admin", "127.0.0.1:9191", "--state-writer",
         "127.0.0.1:9191"),
        "ringside sidecar: --state-writer: is this process's own admin address; write self if this process writes the "
        "shards, else the address of the one that does",
    ),
    Mistake(
        "a mistyped command",
        ("scael", "3"),
        'ringside: "scael" is no command; did you mean scale?',
    ),
    Mistake(
        "a mistyped option",
        ("up", "--replica", "3"),
        "ringside up: no option --replica; did you mean --replicas?",
    ),
    Mistake(
        "shard without the tier's replicas",
        ("shard", "--shard-key", "path", "/a"),
        "ringside shard: without --replicas these are the owners among 10 replicas, cache-0 to cache-9; for your "
        "own tier give its number of replicas, or NAME=HOST:PORT,…",
        code=0,
    ),
    Mistake(
        "a sidecar without replicas",
        ("sidecar", *LISTEN),
        "ringside sidecar: --replicas: no replica is given; give --replicas NAME=HOST:PORT,…, --kubernetes, --dns, "
        "or --without-replica origin",
    ),
    Mistake(
        "a sidecar without a key",
        ("sidecar", *LISTEN, "--replicas", "cache-0=10.0.0.1:8080"),
        "ringside sidecar: --peer-key-file is missing; give all of the tier a file with the same key (`(umask 077 && "
        "openssl rand -hex 32 > FILE)` makes one), or --insecure-peers where nobody else reaches the replicas",
    ),
    Mistake(
        "a replica that does not list itself",
        ("cache", *LISTEN, *INSECURE, "--name", "cache-0", "--origin", "http://o", "--peers", "cache-1=h:1"),
        "ringside cache: --peers: cache-0 is not among them; list every replica of the tier, this one too",
    ),
    Mistake(
        "a replica without an origin",
        ("cache", *LISTEN, "--name", "cache-0"),
        "ringside cache: --origin is missing; give --origin http://HOST[:PORT]",
    ),
    Mistake(
        "an origin without http://",
        ("up", "--origin", "app:8000"),
        'ringside up: --origin: "app:8000" is no URL of an origin; write http://HOST[:PORT] or https://…',
    ),
    Mistake(
        "a time without a unit",
        ("up", "--drain-delay", "5"),
        'ringside up: --drain-delay: "5" has no unit; write a number with ms, s, m or h, such as 250ms or 10s',
    ),
    Mistake(
        "a share of the memory for several stores",
        ("up", "--memory", "50%"),
        "ringside up: --memory: 50% is a share, but `up` runs several replicas; write a size, which each of them gets, such "
        "as 256MiB",
    ),
    Mistake(
        "a network that is none",
        ("up", "--trust", "10.0.0.0/33"),
        'ringside up: --trust: "10.0.0.0/33" is no network: what follows "/" is no prefix length from 0 to 32; write '
        "one such as 10.0.0.0/8, 2001:db8::/32 or a single address",
    ),
    Mistake(
        "a country database that is not there",
        ("up", "--geo", "{folder}/none.mmdb"),
        "ringside up: --geo: geo database {folder}/none.mmdb: can't be opened: No such file or directory; check the "
        "path or give --geo-optional to run with country ZZ",
    ),
    Mistake(
        "nobody is asked to do anything",
        ("purge",),
        "ringside purge: what? Give http://HOST[:PORT]/PATH, or --all for everything",
    ),
]

# Commands to a running `up` at {admin}, whose clients connect to {listen}. All of both outputs.
AT_UP = [
    Mistake(
        "a purge by a pattern",
        ("purge", "http://{listen}/films/*", "--admin", "{admin}"),
        "removed    0 of http://{listen}/films/*\n"
        "           A * stands for itself: there are no patterns. Purge each URL, all that begin alike "
        "(ringside purge --prefix), or everything (ringside purge --all)",
        code=0,
    ),
    Mistake(
        "a purge without the port that clients use",
        ("purge", "http://127.0.0.1/films", "--admin", "{admin}"),
        "removed    0 of http://127.0.0.1/films\n"
        "           Nothing is stored of it. If clients have asked for it, write the URL as they do, with the same host, "
        "port, path and query",
        code=0,
    ),
    Mistake(
        "a purge of what begins with a query",
        ("purge", "http://{listen}/films?a=", "--prefix", "--admin", "{admin}"),
        'ringside purge: {admin}: POST /purge is answered 400: prefix: "http://{listen}/films?a=" has a query; write '
        "the beginning of a path",
        code=1,
    ),
    Mistake(
        "a log of a word that is no result",
        ("log", "--result", "hits", "--admin", "{admin}"),
        'ringside log: --result: "hits" is none; there are hit, miss, stale, revalidated, peer_fill, collapsed, '
        "bypass, error",
    ),
    Mistake(
        "a log of a word that is no status",
        ("log", "--status", "5x", "--admin", "{admin}"),
        'ringside log: --status: "5x" is none; write one such as 404, a class such as 5xx, or 0 for no answer',
    ),
    Mistake(
        "a log of a country by its name",
        ("log", "--country", "France", "--admin", "{admin}"),
        'ringside log: --country: "France" is no code of a country; write two letters, such as FR',
    ),
    Mistake(
        "a log of what takes longer than a number",
        ("log", "--slower-than", "250", "--admin", "{admin}"),
        'ringside log: --slower-than: "250" has no unit; write a number with ms, s, m or h, such as 250ms or 10s',
    ),
    Mistake(
        "a purge of a path",
        ("purge", "/films", "--admin", "{admin}"),
        'ringside purge: {admin}: POST /purge is answered 400: url: "/films" is no URL with a host, which is a part '
        "of what is stored; write http://HOST/PATH",
        code=1,
    ),
    Mistake(
        "a command to the clients' address",
        ("scale", "3", "--admin", "{listen}"),
        "ringside scale: what answers there is no `ringside up` of this release (it gives no JSON); give --admin the "
        'address that it printed behind "admin on"',
        code=1,
    ),
    Mistake(
        "a split of a scheme without shards",
        ("split", "0", "--admin", "{admin}"),
        "ringside split: the scheme ring has no shards to split; add replicas, or choose one of ascending, directory, "
        "range, split-tree as --scheme",
    ),
    Mistake(
        "a replica that nobody started",
        ("topology", "add", "cache-2=127.0.0.1:1", "--admin", "{admin}"),
        "ringside topology: {admin}: PUT /topology is answered 409: `ringside up` starts its replicas itself; change "
        "their number with `ringside scale N` or PUT /scale, and the scheme in its configuration file",
        code=1,
    ),
]

# Commands to a sidecar at {admin} that has one replica, cache-0.
AT_A_SIDECAR = [
    Mistake(
        "a purge that the replicas refuse",
        ("purge", "http://127.0.0.1/films", "--admin", "{admin}"),
        "ringside purge: http://127.0.0.1/films: 0 removed, and not confirmed by cache-0: takes no purges from this "
        "sidecar; give it --purge-from with this sidecar's address",
        code=1,
    ),
    Mistake(
        "a replica without an address",
        ("topology", "add", "cache-1", "--admin", "{admin}"),
        'ringside topology: "cache-1" has no address; write NAME=HOST:PORT, such as cache-0=10.0.0.1:8080',
    ),
    Mistake(
        "a replica that is there already",
        ("topology", "add", "cache-0=127.0.0.1:1", "--admin", "{admin}"),
        "ringside topology: there is a replica cache-0 already; remove it first, or change it with set",
    ),
    Mistake(
        "a topology from a file that is not there",
        ("topology", "set", "{folder}/none.json", "--admin", "{admin}"),
        "ringside topology: {folder}/none.json: No such file or directory; give a file as `ringside topology get` "
        "prints it",
    ),
    Mistake(
        "a number of replicas for what is no `up`",
        ("scale", "3", "--admin", "{admin}"),
        "ringside scale: {admin}: what answers there is no `ringside up`; give --admin the address that it "
        'printed behind "admin on", or change another tier by `ringside topology`',
    ),
]

# (what, method, target, body, status, answer) on the admin address of the same sidecar.
REQUESTS = [
    (
        "a topology without members",
        "PUT",
        "/topology",
        {"scheme": "ring", "members": []},
        400,
        "members: without one every request would be refused; name one at least, or start the sidecar with "
        "--without-replica origin",
    ),
    (
        "a topology that says nothing of members",
        "PUT",
        "/topology",
        {"scheme": "ring"},
        400,
        'members: is missing; give a list such as [{"name": "cache-0", "address": "10.0.0.1:8080"}]',
    ),
    (
        "a member's address without a port",
        "PUT",
        "/topology",
        {"scheme": "ring", "members": [{"name": "cache-0", "address": "10.0.0.1"}]},
        400,
        'members[0].address: "10.0.0.1" is no address to listen on or connect to: the port is missing; write '
        "host:port, such as 127.0.0.1:8080, cache-0.cache:8080 or [::1]:8080",
    ),
    (
        "a purge by another key",
        "POST",
        "/purge",
        {"path": "/films"},
        400,
        'not what is asked for; write {"url": "http://HOST/PATH"}, {"prefix": "http://HOST/PATH"} or '
        '{"all": true}',
    ),
    (
        "a page that is asked for in the wrong way",
        "GET",
        "/purge",
        None,
        405,
        "405: /purge takes POST",
    ),
]


class Mistakes(Tier):
    def check(self, mistake: Mistake, **places: str) -> None:
        with self.subTest(mistake.what):
            places["folder"] = str(self.folder)
            file = self.file("tier.yaml", mistake.text.format(**places))
            places["file"] = str(file)
            arguments = [argument.format(**places) for argument in mistake.arguments]
            done = ringside(*arguments, expect=mistake.code)
            of_a_report = done.stdout if mistake.said.startswith("removed") else ""
            self.assertEqual(of_a_report + done.stderr, mistake.said.format(**places) + "\n")

    def test_before_anything_runs(self):
        self.countries()
        for mistake in ALONE:
            self.check(mistake)

    def test_of_commands_to_up(self):
        tier = self.up(1, self.origin())
        for mistake in AT_UP:
            self.check(mistake, admin=tier.admin, listen=tier.address)
        purged = tier.ask("PURGE", "/films/*").text
        said = (
            "A * stands for itself: there are no patterns. Purge each URL, all that begin alike (ringside purge "
            "--prefix), or everything (ringside purge --all)\n"
        )
        self.assertEqual(purged, f"purged 0 stored responses\n{said}")

    def test_of_commands_and_requests_to_a_sidecar(self):
        front = self.sidecar([self.cache("cache-0", self.origin())])
        for mistake in AT_A_SIDECAR:
            self.check(mistake, admin=front.admin)
        for what, method, target, body, status, said in REQUESTS:
            with self.subTest(what):
                answer = front.administer(method, target, body)
                self.assertEqual((answer.status, answer.text), (status, said + "\n"))
        refused = front.ask("PURGE", "/films")
        said = "403 Forbidden: PURGE is not allowed from 127.0.0.1; add it to --purge-from (in the file purge_from)\n"
        self.assertEqual((refused.status, refused.text), (403, said))

    def test_what_is_not_there(self):
        tier = self.up(1, self.origin())
        taken = ringside("up", "--listen", tier.address, "--admin", "127.0.0.1:0", "--geo-optional", expect=1)
        self.assertIn(
            f"ringside up: --listen: cannot listen on {tier.address}: Address already in use; stop what listens "
            "there or choose another port\n",
            taken.stderr,
        )
        tier.stop()
        gone = ringside("status", "--admin", tier.admin, expect=1).stderr
        said = f"{tier.admin}: nothing listens there; is it running, and is this its admin address?\n"
        self.assertEqual(gone, f"ringside status: not well: {said}")


if __name__ == "__main__":
    unittest.main()
