"""Guards, caches and cascades in the terminal, also where there are none."""

import pytest
from msgspec import structs

from heterodyne.cli.policies.span import query
from heterodyne.cli.policies.tables import print_caches, print_cascades, print_guards, print_hits
from tests.support.policy_pages import CACHES, CASCADES, GUARDS, HITS


def test_what_policies_found_and_what_none_could_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    print_guards(GUARDS)
    print_hits(HITS)
    told = capsys.readouterr().out
    for words in (
        "email 1,234, iban 5, name 4",
        "gone (not set)",
        "Not looked at on the way in: 3.",
        "4-24",
        "--limit",
    ):
        assert words in told
    assert "place" not in told


def test_what_caches_gave_again_and_may_have_got_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    print_caches(CACHES)
    told = capsys.readouterr().out
    for words in ("70.0%", "$1.5", "1 of 3", "90 answers", "Redis or Valkey", "shadow", "1.6%", "0.80%", "1.0%"):
        assert words in told


def test_what_cascades_kept_and_what_is_known_of_quality(capsys: pytest.CaptureFixture[str]) -> None:
    print_cascades(structs.replace(CASCADES, cascades=(structs.replace(CASCADES.cascades[0], problem="x: gone"),)))
    told = capsys.readouterr()
    for words in ("35% of the big model", "940", "5.0%, 90% sure", "81", "3.7%", "12.0%"):
        assert words in told.out
    assert told.err == "smart: x: gone\n"


def test_where_nothing_is_set_there_is_a_word_on_how_to(capsys: pytest.CaptureFixture[str]) -> None:
    print_guards(structs.replace(GUARDS, guards=()))
    print_hits(structs.replace(HITS, hits=()))
    print_caches(structs.replace(CACHES, caches=()))
    print_cascades(structs.replace(CASCADES, cascades=()))
    told = capsys.readouterr().out
    assert all(words in told for words in ("[guards.NAME]", "Nothing was found.", "[caches.NAME]", "[cascades.NAME]"))


def test_a_query_has_what_was_given() -> None:
    assert query("/admin/guards", since_at=None, policy=None) == "/admin/guards"
    assert query("/admin/guards", since_at=1.5, policy="a b") == "/admin/guards?since_at=1.5&policy=a+b"
