"""What may be shown of an address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.domain.url_secrets import origin_of, shown, without_secrets


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("postgresql://ada:s3cret@db.example:5432/books", "postgresql://***@db.example:5432/books"),
        ("postgresql://ada:s3/cr@et@db/books?sslmode=require", "postgresql://***@db/books?sslmode=require"),
        ("redis://:s3cret@cache:6379/0", "redis://***@cache:6379/0"),
        ("rediss://cache/0?password=s3cret&db=1", "rediss://cache/0?password=***&db=1"),
        ("https://s3cret@host/x", "https://***@host/x"),
        ("https://host/a@b/c", "https://host/a@b/c"),
        ("https://host/x?X-Amz-Signature=s3cret&y=s3cret#s3cret", "https://host/x?X-Amz-Signature=***&y=***#***"),
        ("https://host/x?s3cret", "https://host/x?***"),
        ("cannot open 'https://u:s3cret@h/x', sorry", "cannot open 'https://***@h/x', sorry"),
        ("host=db password=s3cret user=ada", "host=db password=*** user=ada"),
        ("https://host:8080/path", "https://host:8080/path"),
        ("no address, max_tokens=5", "no address, max_tokens=5"),
        ("sqlite:/var/lib/x.db", "sqlite:/var/lib/x.db"),
    ],
)
def test_passwords_and_queries_are_hidden_and_the_rest_is_shown(text: str, said: str) -> None:
    assert without_secrets(text) == said
    assert "s3cret" not in said


WORD = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\"'<>`#?"), min_size=1).map(
    lambda word: f"S3{word}S3"
)


@given(st.sampled_from(["postgresql", "redis", "amqp"]), WORD)
def test_no_password_of_a_database_is_shown_however_odd(scheme: str, password: str) -> None:
    assert password not in without_secrets(f"{scheme}://user:{password}@host/name")


def test_every_text_of_a_value_is_looked_at() -> None:
    given_value = {"a": ("http://u:p@h/", {"b": ["redis://:p@h/0"]}), "c": 5, "d": None}
    assert shown(given_value) == {"a": ("http://***@h/", {"b": ["redis://***@h/0"]}), "c": 5, "d": None}


def test_where_the_path_is_the_secret_only_the_origin_is_shown() -> None:
    assert origin_of("https://hooks.example:444/services/T0/s3cret?x=1") == "https://hooks.example:444/***"
    assert origin_of("https://u:s3cret@hooks.example") == "https://hooks.example/***"
    assert origin_of("s3cret") == "***"


def test_an_error_never_says_a_password() -> None:
    error = WeightsUnavailable("gave up on https://u:s3cret@h/x?sig=s3cret after 3 attempts")
    assert error.message == str(error) == "gave up on https://***@h/x?sig=*** after 3 attempts"
