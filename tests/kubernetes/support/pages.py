"""What the origin says, which the load generator checks: a page for each path and country."""

import zlib

# Clients' addresses and the countries that the database has them in.
COUNTRIES = {"81.2.69.160": "GB", "53.1.2.3": "DE", "8.8.8.8": "US"}


def page(path: str, country: str) -> bytes:
    """The same at every time; of another length for most others."""
    said = f"GET {path} for {country}\n".encode()
    return said * (1 + zlib.crc32(said) % 40)
