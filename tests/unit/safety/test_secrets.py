"""Secrets by their issuers' prefixes and by names before them. Every one is made up here."""

import pytest

from heterodyne.safety.secrets import entropy_bits, find_secrets

RANDOM = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5zA7bC9dE2fG4hJ6kL8mN1pQ3rS5tU7v"

SECRETS = [
    ("heterodyne_key", "hd-" + RANDOM[:43]),
    ("openai_key", "sk-" + RANDOM[:48]),
    ("openai_key", "sk-proj-" + RANDOM[:60]),
    ("anthropic_key", "sk-ant-api03-" + RANDOM[:60]),
    ("aws_access_key_id", "AKIA" + "QWERTYUIOP234567"),
    ("github_token", "ghp_" + RANDOM[:36]),
    ("github_token", "github_pat_" + RANDOM[:60]),
    ("gitlab_token", "glpat-" + RANDOM[:20]),
    ("slack_token", "xoxb-" + "123456789012-" + RANDOM[:24]),
    ("stripe_key", "sk_" + "live_" + RANDOM[:24]),
    ("google_key", "AIza" + RANDOM[:35]),
    ("huggingface_token", "hf_" + RANDOM[:34]),
    ("package_token", "npm_" + RANDOM[:36]),
    ("sendgrid_key", f"SG.{RANDOM[:22]}.{RANDOM[:43]}"),
    ("cloud_token", "dapi" + "0123456789abcdef" * 2),
    ("telegram_token", "123456789:AA" + RANDOM[:33]),
    ("jwt", f"eyJ{RANDOM[:30]}.eyJ{RANDOM[:40]}.{RANDOM[:43]}"),
]


@pytest.mark.parametrize(("rule", "secret"), SECRETS)
def test_a_secret_is_found_by_its_prefix_and_without_its_neighbours(rule, secret):
    text = f"the value ({secret}) leaked"
    assert [(one.rule, text[one.start : one.end]) for one in find_secrets(text)] == [(rule, secret)]


def test_a_private_key_is_found_whole_and_also_when_it_has_not_ended():
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/IBAAK=\nabc\n-----END RSA PRIVATE KEY-----"
    assert [(one.start, one.end) for one in find_secrets(f"x {block} y")] == [(2, 2 + len(block))]
    assert [one.end for one in find_secrets(block[:45])] == [45]


def test_a_public_key_is_no_secret():
    assert find_secrets("-----BEGIN PUBLIC KEY-----\nMIIBIjANBg\n-----END PUBLIC KEY-----") == []


def test_the_password_of_a_url_is_found_with_its_user():
    text = "postgres://app:s3cr3t@db.internal:5432/main"
    assert [(one.rule, text[one.start : one.end]) for one in find_secrets(text)] == [("url_password", "app:s3cr3t")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password = hunter2", "hunter2"),
        ("DB_PASSWORD: 'correct7horse'", "correct7horse"),
        ("my password is Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("api_key=9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
        ('"access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz"', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz"),
        ("Authorization token: Bearer a1b2c3d4e5f6g7h8i9", "a1b2c3d4e5f6g7h8i9"),
    ],
)
def test_a_value_after_a_telling_name_is_found(text, value):
    assert [(one.rule, text[one.start : one.end]) for one in find_secrets(text)] == [("named_secret", value)]


@pytest.mark.parametrize(
    "text",
    [
        "token = get_token(request)",
        "password: str",
        "the password is required here",
        "api_key = <your-key>",
        "api_key=YOUR_API_KEY_HERE_12345".replace("YOUR_", "your-"),
        "secret: aaaaaaaaaaaaaaaaaaaa1",
        "max_tokens: 4096",
        "the key is under the mat",
        "ask-anything-you-want-to-know-now",
        "hd-video and sk-learn",
        "AKIASHORT",
    ],
)
def test_ordinary_words_and_code_are_no_secrets(text):
    assert find_secrets(text) == []


def test_entropy_is_low_for_repetition_and_high_for_random_text():
    assert entropy_bits("aaaaaaaa") == 0
    assert entropy_bits("abcdefgh") == 3
