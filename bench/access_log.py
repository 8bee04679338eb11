"""The targets of an access log (Combined Log Format)."""

import re

GET = re.compile(r'"GET (/[^" ]*) HTTP/[\d.]+"')


def targets_of(text: str) -> list[str]:
    """Of each GET its target, in the order of the log."""
    return [found[1] for line in text.splitlines() if (found := GET.search(line))]
