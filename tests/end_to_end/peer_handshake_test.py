"""The proof of membership word by word, as docs/decisions/peer-proof.md has it, from a socket."""

import hashlib
import hmac
import secrets
import struct
import unittest

from support import wait_until
from support.peers import Peers, a_key
from support.wire import Wire


def value(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


def prove(key: str, side: str, caller: str, answerer: str, theirs: str, ours: str) -> str:
    """hop/peer_proof.cc, once more."""
    parts = (
        b"ringside peer proof 1", side.encode(), b"sidecar", caller.encode(), answerer.encode(),
        bytes.fromhex(ours), bytes.fromhex(theirs), b"",
    )  # fmt: skip
    return hmac.new(key.encode(), b"".join(map(value, parts)), hashlib.sha256).hexdigest()


class RawHandshake(Peers):
    """The same from a socket: every word as a test wants it."""

    def setUp(self):
        super().setUp()
        self.store = self.replica()
        self.nonce = secrets.token_hex(32)

    def say(self, wire: Wire, *lines: str):
        head = "OPTIONS * HTTP/1.1\r\nHost: cache-0\r\nMax-Forwards: 0\r\n"
        wire.send((head + "".join(f"{line}\r\n" for line in lines) + "\r\n").encode())
        return wire.answer()

    def hello(self, wire: Wire, to: str = "cache-0"):
        return self.say(wire, f"Ringside-Hello: 1 sidecar mallory {to} {self.nonce}")

    def proof(self, challenge: str, key: str | None = None) -> str:
        return prove(key or self.key, "caller", "mallory", "cache-0", challenge, self.nonce)

    def is_member(self, wire: Wire) -> bool:
        """Whether what is said of the country is heeded."""
        path = f"/country?{secrets.token_hex(4)}"
        self.source.on[path] = self.source.on["/country"]
        wire.send(
            f"GET {path} HTTP/1.1\r\nHost: a\r\nRingside-Topology: x\r\nX-Country: DE\r\n\r\n".encode()
        )
        answer = wire.answer()
        self.assertEqual(answer.status, 200)
        return answer.body == b"DE"

    def test_who_knows_the_key_is_a_member(self):
        with Wire(self.store.address) as wire:
            answer = self.hello(wire)
            challenge = answer.field("Ringside-Challenge")
            theirs = prove(self.key, "answerer", "mallory", "cache-0", challenge, self.nonce)
            self.assertEqual(answer.field("Ringside-Proof"), theirs)
            answer = self.say(wire, f"Ringside-Proof: {self.proof(challenge)}")
            self.assertEqual(answer.status, 200)
            self.assertTrue(self.is_member(wire))

    def test_a_replayed_handshake_is_worth_nothing(self):
        with Wire(self.store.address) as wire:
            challenge = self.hello(wire).field("Ringside-Challenge")
            proof = self.proof(challenge)
            self.assertEqual(self.say(wire, f"Ringside-Proof: {proof}").status, 200)
        with Wire(self.store.address) as wire:
            self.assertNotEqual(self.hello(wire).field("Ringside-Challenge"), challenge)
            answer = self.say(wire, f"Ringside-Proof: {proof}")
            self.assertEqual((answer.status, answer.field("Ringside-Refusal")), (403, "proof"))
            self.assertEqual(wire.read_to_end(), b"")
        wait_until(lambda: "repeats an old proof" in self.store.err, "the log to say so")

    def test_what_proves_nothing_is_refused(self):
        def wrong_key(challenge: str, _theirs: str) -> str:
            return self.proof(challenge, a_key())

        def its_own_words(_challenge: str, theirs: str) -> str:
            return theirs

        def nothing(_challenge: str, _theirs: str) -> str:
            return ""

        for proof in (wrong_key, its_own_words, nothing):
            with self.subTest(proof.__name__), Wire(self.store.address) as wire:
                answer = self.hello(wire)
                words = answer.field("Ringside-Challenge"), answer.field("Ringside-Proof")
                self.assertEqual(self.say(wire, f"Ringside-Proof: {proof(*words)}").status, 403)
                self.assertEqual(wire.read_to_end(), b"")

    def test_a_hello_alone_makes_no_member(self):
        with Wire(self.store.address) as wire:
            self.hello(wire)
            self.assertFalse(self.is_member(wire))
            # Too late: a connection has one chance, at its start.
            self.assertIsNone(self.hello(wire).field("Ringside-Challenge"))
            self.assertFalse(self.is_member(wire))

    def test_a_member_of_another_name_gets_no_proof(self):
        with Wire(self.store.address) as wire:
            answer = self.hello(wire, "cache-1")
            self.assertEqual((answer.status, answer.field("Ringside-Refusal")), (403, "name"))
            self.assertIsNone(answer.field("Ringside-Proof"))


if __name__ == "__main__":
    unittest.main()
