"""Whether an output is like the one a page shows: the same lines and columns, whatever the figures of the day.

Figures, ids and the names of the fleet's replicas and policies are any others; `…` stands for what the page leaves
out. Of a table the header and the names of its rows count, of HTTP headers their names, of JSON its keys.
"""

import re
from collections.abc import Iterator

NUMBER = re.compile(r"req_[0-9a-f…]+|~?[-+]?\$?\d[\d.,:]*%?")
CHOSEN = re.compile(r"\b(?:(?:h100|h200|mi300x|tpu-v5e)(?:-0)?|policy \w+)\b")
HEADER = re.compile(r"^[A-Z]{2,}(?: [A-Z]+)*  +(?:[A-Z$]{2,}|[A-Za-z]+ ms|p\d\d)|^ms +p50")
HTTP_FIELD = re.compile(r"^([a-z][a-z-]+): \S")
KEY = re.compile(r'"(\w+)":')
CUT = "…"


def missing(shown: str, printed: str) -> list[str]:
    """What the page shows and nothing like it was printed."""
    lines = printed.splitlines()
    forms = {form(line) for line in lines}
    names = {line.split(":")[0] for line in lines if HTTP_FIELD.match(line)}
    firsts = {line.split("  ")[0].strip() for line in lines if line.strip()}
    lacking = sorted(_keys(shown) - set(KEY.findall(printed)))
    is_table = False
    for line in _plain(shown):
        is_header = bool(HEADER.match(line))
        is_table = bool(line.strip()) and (is_table or is_header)
        field = HTTP_FIELD.match(line)
        if is_table and not is_header:
            is_there = line.split("  ")[0].strip() in firsts
        elif field:
            is_there = field.group(1) in names
        else:
            is_there = not line.strip() or _is_said(form(line), forms)
        if not is_there:
            lacking.append(line)
    return lacking


def form(line: str) -> str:
    """Without figures and names, and with single blanks."""
    return " ".join(NUMBER.sub("#", CHOSEN.sub("@", line)).split())


def _is_said(wanted: str, forms: set[str]) -> bool:
    start, cut, _ = wanted.partition(CUT)
    if cut:
        return any(one.startswith(start.rstrip(" ,")) for one in forms)
    return wanted in forms


def _keys(shown: str) -> set[str]:
    return {key for line in shown.splitlines() if _is_json(line) for key in KEY.findall(line)}


def _plain(shown: str) -> Iterator[str]:
    """The lines that are no JSON, which goes on to an empty line, and not left out."""
    is_json = False
    for line in shown.splitlines():
        is_json = _is_json(line) or (is_json and bool(line.strip()))
        if line.strip() != CUT and not is_json:
            yield line


def _is_json(line: str) -> bool:
    return line.startswith(("{", '"', "[")) and bool(KEY.search(line))
