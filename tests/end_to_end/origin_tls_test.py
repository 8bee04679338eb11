"""Origins under https://, with the real program and certificates of the test's own."""

import os
import signal
import unittest

from support import Tier, wait_until
from support.certificates import Authority


class HttpsOrigin(Tier):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder)
        self.told_names: list = []
        context = self.authority.server("DNS:localhost", "IP:127.0.0.1")
        context.sni_callback = lambda _, name, __: self.told_names.append(name)
        self.source = self.origin(context)

    def replica(self):
        return self.cache("cache-0", self.source, "--origin-ca", self.authority.path)

    def fronts(self):
        """A sidecar that asks the origin through a replica, and one that does without any."""
        alone = self.start(
            "sidecar", "--replicas", "gone=127.0.0.1:1", "--without-replica", "origin",
            "--geo", self.countries(), "--origin", self.source.url,
            "--origin-ca", self.authority.path, "--threads", 1,
        )  # fmt: skip
        return {"through both hops": self.sidecar([self.replica()]), "the sidecar alone": alone}

    def test_bodies_both_ways_on_kept_connections_and_the_name_is_told(self):
        for way, front in self.fronts().items():
            with self.subTest(way):
                before = self.source.connections
                big = os.urandom(3_000_000)
                self.source.on["/big"] = lambda turn, body=big: turn.reply(200, body)
                self.assertEqual(front.get("/big").body, big)
                self.source.on["/echo"] = lambda turn: turn.reply(
                    200, turn.request.body, cache_control="no-store"
                )
                for _ in range(3):
                    answer = front.ask("POST", "/echo", body=big)
                    self.assertEqual((answer.status, answer.body), (200, big))
                self.assertEqual(self.source.connections, before + 1)
        self.assertEqual(set(self.told_names), {"localhost"})

    def test_hits_need_no_origin(self):
        front = self.sidecar([self.replica()])
        first = front.get("/page")
        self.source.go_down()
        self.assertEqual(front.get("/page").body, first.body)

    def test_an_address_is_checked_as_one(self):
        self.source.url = f"https://127.0.0.1:{self.source.port}"
        front = self.sidecar([self.replica()])
        self.assertEqual(front.get("/page").status, 200)
        self.assertEqual(set(self.told_names), {None})  # RFC 6066 §3: no address as SNI


class Untrusted(Tier):
    def check_refused(self, replica, source) -> None:
        front = self.sidecar([replica])
        answer = front.get("/page")
        self.assertEqual(answer.status, 502)
        self.assertIn("error=tls_certificate_error", answer.field("Proxy-Status"))
        self.assertEqual(source.count(), 0, "nothing was said to a stranger")

    def test_a_stranger_is_told_nothing(self):
        known, other = Authority(self.folder, "known"), Authority(self.folder, "other")
        for name, context, options in (
            ("another CA", other.server("DNS:localhost"), ("--origin-ca", known.path)),
            ("another name", known.server("DNS:elsewhere.test"), ("--origin-ca", known.path)),
            ("not the system's", known.server("DNS:localhost"), ()),
        ):
            with self.subTest(name):
                source = self.origin(context)
                self.check_refused(self.cache("cache-0", source, *options), source)

    def test_a_reload_reads_the_certificates_again(self):
        known, other = Authority(self.folder, "known"), Authority(self.folder, "other")
        source = self.origin(known.server("DNS:localhost"))
        believed = self.file("believed.pem", other.path.read_text())
        config = self.file("cache.yaml", f"origin_ca: {believed}\n")
        replica = self.cache("cache-0", source, "--config", config)
        self.check_refused(replica, source)
        believed.write_text(known.path.read_text())
        os.kill(replica.child.pid, signal.SIGHUP)
        wait_until(lambda: replica.get("/page").status == 200, "the new CA to be believed")

        believed.write_text("nothing of use")
        os.kill(replica.child.pid, signal.SIGHUP)
        wait_until(lambda: "reload refused" in replica.err, "the reload to be refused")
        self.assertIn("origin_ca: cannot read certificates", replica.err)
        self.assertEqual(replica.get("/other").status, 200)


if __name__ == "__main__":
    unittest.main()
