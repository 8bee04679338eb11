"""A tier whose members have a key: what a test about trust begins with."""

import secrets

from .tier import Tier
from .waiting import wait_until

GB, DE = "81.2.69.160", "53.1.2.3"


def a_key() -> str:
    return secrets.token_hex(32)


class Peers(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.source.on["/country"] = lambda turn: turn.reply(
            body=(turn.request.field("X-Country") or "nobody").encode()
        )
        self.key = a_key()
        self.key_file = self.keys("peer.key", self.key)

    def keys(self, name: str, *keys: str):
        path = self.file(name, "".join(f"{key}\n" for key in keys))
        path.chmod(0o600)
        return path

    def replica(self, name: str = "cache-0", key_file=None, *options):
        return self.cache(
            name, self.source, "--peer-key-file", key_file or self.key_file, *options
        )  # fmt: skip

    def front_of(self, replicas, key_file=None, *options):
        return self.sidecar(replicas, "--peer-key-file", key_file or self.key_file, *options)

    def ready(self, front):
        wait_until(lambda: front.readyz().status == 200, "the sidecar to be ready")
        return front

    def page(self, front, *words: str) -> str:
        return wait_until(
            lambda: all(word in (text := front.readyz().text) for word in words) and text,
            f"/readyz to say {words}",
        )
