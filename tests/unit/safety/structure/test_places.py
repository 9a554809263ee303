"""Paths that lead outside, URLs to other hosts, and patterns that no text may take for ever with."""

import pytest

from heterodyne.domain.errors import InvalidSpec
from heterodyne.safety.structure.hosts import AllowedHosts
from heterodyne.safety.structure.paths import AllowedRoots
from heterodyne.safety.structure.patterns import compiled

ROOTS = AllowedRoots(["/work", "C:\\work", "~/notes/"])
HOSTS = AllowedHosts(["api.example.com", "*.Internal", "[::1]"])


@pytest.mark.parametrize("text", [
    "/etc/passwd", "/", "/work/../etc/passwd", "/work/./../../etc", "/workers/a", "../a", "a/../../b", "..",
    "cd .. && ls", "cat /etc/passwd", "rm -rf /", "cat '/etc/passwd'", "cat</etc/passwd", "a=/etc/x",
    "PATH=/work:/etc", "//etc/passwd", "file:///etc/passwd", "FILE:/etc/passwd", "file://localhost/etc",
    "file:///work/%2e%2e/etc", "~", "~root/x", "~/.ssh/id", "$HOME/x", "cat ${HOME}/.ssh", "%USERPROFILE%\\x",
    "C:\\Windows", "c:/windows", "C:\\work\\..\\x", "..\\..\\x", "\\\\server\\share", "cat \\/etc/passwd",
    "ls\n/etc", "{/etc,/work}/x", "[/etc/x]", "/work/" + "../" * 2000, "`cat /etc/x`", "cat $(echo /etc/x)",
])  # fmt: skip
def test_paths_that_lead_outside(text: str) -> None:
    assert ROOTS.first_other(text) is not None


@pytest.mark.parametrize("text", [
    "", "a", "notes.txt", "src/main.py", "./a", "a/../b", "/work", "/work/", "/work/a/../b.txt",
    "cat /work/a > /work/b", "C:\\work\\a.txt", "file:///work/a", "~/notes/today", "and so on...", "1/2 of it",
    "and/or", "https://host/etc/passwd", "see http://a/b/../c", "it costs $5", "50% of it", "wait..what",
])  # fmt: skip
def test_paths_that_do_not(text: str) -> None:
    assert ROOTS.first_other(text) is None


def test_the_place_of_a_path_is_told() -> None:
    text = "cat /work/a /etc/passwd"
    start, end = ROOTS.first_other(text)
    assert text[start:end] == "/etc/passwd"
    assert AllowedRoots(["/"]).first_other("/etc ../x") == (5, 9)


@pytest.mark.parametrize("text", [
    "https://evil.com/x", "get http://evil.com", "HTTPS://EVIL.COM", "https://api.example.com@evil.com/",
    "ftp://evil.com", "https://api.example.com\\@evil.com", "https://api.example.com.evil.com",
    "https://evil.com#api.example.com", "https:evil.com", "http:/evil.com", "http:\\\\evil.com", "//evil.com/x",
    "https://evil%2ecom", "https://[::2]/", "https://api.example.com:443@evil.com", "gopher://evil.com",
    "https://аpi.example.com", "https://internal", "see https://api.example.com/ and https://evil.com/",
])  # fmt: skip
def test_hosts_that_are_not_allowed(text: str) -> None:
    assert HOSTS.first_other(text) is not None


@pytest.mark.parametrize("text", [
    "", "https://api.example.com/x?u=evil.com", "http://API.example.com:8080", "https://me:pw@api.example.com./",
    "https://a.b.internal", "http://[::1]:80/x", "file:///a", "// a comment", "a//b", "over http: then",
    "1 / 2 // 3",
])  # fmt: skip
def test_hosts_that_are(text: str) -> None:
    assert HOSTS.first_other(text) is None


@pytest.mark.parametrize(("pattern", "words"), [
    ("(", "no regular expression"), ("a" * 513, "512 characters"), ("a*", "every text"), ("", "every text"),
    ("x(a+)+y", "repeats"), ("x(?:a|b*)*y", "repeats"), ("x((a{2,})b)*y", "repeats"), ("x(a+){20}y", "repeats"),
    ("x(?P<n>[)]+\\))+y", "repeats"), ("x(a{30})+y", "repeats"),
])  # fmt: skip
def test_patterns_that_are_refused(pattern: str, words: str) -> None:
    with pytest.raises(InvalidSpec, match=words) as refused:
        compiled(pattern, "arguments_denied")
    assert "`arguments_denied`" in str(refused.value)


@pytest.mark.parametrize("pattern", [
    r"rm\s+-rf", r"(?i)drop\s+table", r"\bcurl\b.*\|\s*(?:ba)?sh", r"(?:ab){3}c", r"(ab)+c", r"[(]+[)*]+x",
    r"\(a+\)+x", r"(a{2,3})+x",
])  # fmt: skip
def test_patterns_that_are_not(pattern: str) -> None:
    assert compiled(pattern, "arguments_denied").pattern == pattern
