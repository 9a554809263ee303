"""Prose of Markdown pages wrapped at 100 columns: `python -m tests.docs.wrap PAGE ...` rewrites pages.

Code blocks, tables, headings and HTML stay as they are; a link's text may run over two lines, its address never does.
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

COLUMNS = 100
# A line that begins so would be read as something else than the paragraph it is in.
BEGINS_A_BLOCK = re.compile(r"(?:[-+*>#|]|\d+[.)]$|<)")
ITEM = re.compile(r"(?P<indent> *)(?P<mark>(?:[-*+]|\d+[.)]) +)?(?P<quote>(?:> ?)*)")
VERBATIM = re.compile(r" *(?:#|\||<|!\[|```|---)|    ")


def wrapped(page: str) -> str:
    """The page with every paragraph and list item filled."""
    return "\n".join(_lines(page.splitlines())) + "\n"


def long_lines(page: str) -> list[str]:
    """Lines that are too long, outside of code, of tables and of what has no space to break at."""
    found, is_code = [], False
    for line in page.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif len(line) > COLUMNS and not is_code and not _is_exempt(line):
            found.append(line)
    return found


def _is_exempt(line: str) -> bool:
    if line.lstrip().startswith("|"):  # a table: where a cell is a link, a command, or one of many numbers
        return True
    words = line[len(ITEM.match(line)[0]) :]  # type: ignore[index]
    return line.startswith("    ") or words.startswith(("![", "<!--")) or " " not in words


def _lines(lines: list[str]) -> Iterator[str]:
    paragraph: list[str] = []
    is_code = False
    for line in lines:
        is_fence = line.lstrip().startswith("```")
        if is_fence or is_code or not line.strip() or _is_verbatim(line, paragraph):
            yield from _filled(paragraph)
            paragraph = []
            yield line
        elif (mark := ITEM.match(line)) and (mark["mark"] or mark["quote"]) and paragraph:
            yield from _filled(paragraph)
            paragraph = [line]
        else:
            paragraph.append(line)
        is_code ^= is_fence
    yield from _filled(paragraph)


def _is_verbatim(line: str, paragraph: list[str]) -> bool:
    if paragraph and line.startswith("    "):  # the rest of a list item, or of a paragraph
        return False
    return bool(VERBATIM.match(line)) and not (line.startswith("    ") and ITEM.match(line)["mark"])  # type: ignore[index]


def _filled(paragraph: list[str]) -> Iterator[str]:
    if not paragraph:
        return
    begin = ITEM.match(paragraph[0])
    assert begin is not None
    first = begin["indent"] + (begin["mark"] or "") + begin["quote"]
    rest = begin["indent"] + " " * len(begin["mark"] or "") + begin["quote"]
    words = [line.strip().removeprefix(begin["quote"].strip()).strip() for line in paragraph]
    words[0] = paragraph[0][len(first) :].strip()
    text = " ".join(words)
    pieces = _glued(text.split(" "))
    filled = textwrap.fill(
        " ".join(piece.replace(" ", "\0") for piece in pieces),
        COLUMNS,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from filled.replace("\0", " ").splitlines()


def _glued(words: list[str]) -> list[str]:
    """Words, those that must not begin a line joined to the ones before."""
    glued: list[str] = []
    for word in words:
        if glued and BEGINS_A_BLOCK.match(word):
            glued[-1] += f" {word}"
        else:
            glued.append(word)
    return glued


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(wrapped(path.read_text(encoding="utf-8")), encoding="utf-8")
