"""What README.md and docs/*.md print: fenced blocks, and the commands in them."""

import pathlib
import re
import shlex
from typing import NamedTuple

SEPARATORS = {"&", "&&", "|", "||", ";", "(", ")"}


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str

    @property
    def begin(self) -> str:
        """Its first line, by which the tables of the tests know it."""
        return self.text.split("\n", 1)[0]

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(root: pathlib.Path, page: str) -> list[Block]:
    found = []
    lines = iter(enumerate((root / page).read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        fence = re.match(r"( *)```(\w*)$", line)
        if not fence:
            continue
        indent, text = len(fence[1]), []
        for _, inner in lines:
            if inner.strip() == "```":
                break
            text.append(inner[indent:])
        found.append(Block(page, number, fence[2], "\n".join(text) + "\n"))
    return found


def indented_blocks(root: pathlib.Path, page: str) -> list[str]:
    """The blocks that have no fence, so no language."""
    text = re.sub(r"^ *```.*?^ *```$", "", (root / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^\n {4}(?! |[-*\d])\S.*$", text, re.MULTILINE)


def spans(root: pathlib.Path, page: str) -> list[str]:
    """The code in running text."""
    text = re.sub(r"^ *```.*?^ *```$", "", (root / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


def words(command: str) -> list[str]:
    """As a shell cuts it, separators included. ValueError where a quote is open."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def commands(text: str) -> list[str]:
    """The lines of a block of `sh`; what goes on in the next line is one."""
    found, pending = [], ""
    for line in text.splitlines():
        pending += line
        try:
            whole = not pending.endswith("\\") and (words(pending) or True)
        except ValueError:
            whole = False
        if whole:
            if words(pending):
                found.append(pending)
            pending = ""
        else:
            pending += "\n"
    if pending:
        raise ValueError(f"this never ends: {pending}")
    return found


def dialogue(text: str) -> list[tuple[str, list[str]]]:
    """A block of `console`: each command (after `$ `) and the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def programs(command: str) -> list[str]:
    """What it runs, in order: the word behind each separator and behind assignments."""
    found, first = [], True
    for word in words(command):
        if word in SEPARATORS:
            first = True
        elif first and not re.match(r"\w+=", word):
            found.append(word)
            first = False
    return found


def calls(command: str, program: str) -> list[list[str]]:
    """The arguments of each call of a program (by its last name); of a path also as an argument."""
    found: list[list[str]] = []
    first, inside = True, False
    for word in words(command):
        if word in SEPARATORS:
            first, inside = True, False
        elif inside:
            found[-1].append(word)
        elif word == program and first or word.endswith(f"/{program}"):
            found.append([])
            inside = True
        else:
            first = first and bool(re.match(r"\w+=", word))
    return found
