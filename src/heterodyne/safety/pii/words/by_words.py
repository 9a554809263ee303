"""What is found by words: people, places, companies and street addresses."""

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.clusters import Cluster
from heterodyne.safety.pii.words.addresses import street_addresses
from heterodyne.safety.pii.words.proper_nouns import proper_nouns
from heterodyne.safety.pii.words.runs import capitals
from heterodyne.safety.pii.words.small_letters import with_capitals


def by_words(text: str, threshold: float, digits: list[Cluster]) -> list[Finding]:
    """Everything that capitalised words say; findings may overlap."""
    if text.islower():
        text = with_capitals(text)
    places = capitals(text)
    found = proper_nouns(text, places, threshold) if places else []
    if places or digits:
        found += street_addresses(text, places, digits, threshold)
    return found
