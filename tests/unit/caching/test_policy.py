"""The first policy that holds for a project and a model is the one that counts."""

from heterodyne.caching.policy import CHOICES_MAX, CachePolicy
from heterodyne.caching.settings import CacheSettings

THEIRS, SMALL = CacheSettings(projects=("acme/*",), ttl_s=1), CacheSettings(models=("small-*",), ttl_s=2)


def test_the_first_that_holds() -> None:
    policy = CachePolicy({"theirs": THEIRS, "small": SMALL})
    assert policy.choice("acme/search", "small-1", "small-1") == ("theirs", THEIRS)
    assert policy.choice("other/search", "alias", "small-1") == ("small", SMALL)
    assert policy.choice("other/search", "small-alias", "large") == ("small", SMALL)
    assert policy.choice("other/search", "large", "large") is None


def test_how_many_are_remembered_is_bounded() -> None:
    policy = CachePolicy({"small": SMALL})
    for number in range(CHOICES_MAX + 10):
        assert policy.choice(f"o/{number}", "small-1", "small-1") == ("small", SMALL)
    assert len(policy._choices) <= CHOICES_MAX


def test_without_settings_it_is_empty() -> None:
    assert CachePolicy({}).is_empty
    assert not CachePolicy({"small": SMALL}).is_empty
