"""Certificates of a test's own, made by the openssl program."""

import pathlib
import ssl
import subprocess


class Authority:
    """A CA in a folder: `path` is its certificate."""

    def __init__(self, folder: pathlib.Path, name: str = "ca"):
        self.folder, self.name = folder, name
        self.path = folder / f"{name}.pem"
        _openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", 2, "-subj", f"/CN={name}", "-keyout", self._key(name), "-out", self.path,
        )  # fmt: skip

    def server(self, *names: str) -> ssl.SSLContext:
        """A server whose certificate is for these names (`DNS:…`, `IP:…`)."""
        leaf = self.folder / f"{self.name}-leaf.pem"
        request = self.folder / f"{self.name}-leaf.csr"
        extensions = self.folder / f"{self.name}-leaf.ext"
        extensions.write_text(f"subjectAltName={','.join(names)}\n")
        _openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", "/CN=leaf", "-keyout", self._key("leaf"), "-out", request,
        )  # fmt: skip
        _openssl(
            "x509", "-req", "-in", request, "-CA", self.path, "-CAkey", self._key(self.name),
            "-CAcreateserial", "-days", 2, "-extfile", extensions, "-out", leaf,
        )  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(leaf, self._key("leaf"))
        return context

    def _key(self, name: str) -> pathlib.Path:
        return self.folder / f"{self.name}-{name}.key"


def _openssl(*arguments) -> None:
    done = subprocess.run(
        ["openssl", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments[0]}: {done.stderr}")
