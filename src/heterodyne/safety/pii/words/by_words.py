"""What is found by words: people, places, companies and street addresses."""

from heterodyne.safety.finding import Finding
from heterodyne.safety.glance import Glance
from heterodyne.safety.pii.clusters import Cluster
from heterodyne.safety.pii.words.addresses import street_addresses
from heterodyne.safety.pii.words.ages_behind import ages_of
from heterodyne.safety.pii.words.postal_codes import codes_by_places
from heterodyne.safety.pii.words.proper_nouns import proper_nouns
from heterodyne.safety.pii.words.runs import capitals
from heterodyne.safety.pii.words.small_letters import with_capitals


def by_words(glance: Glance, threshold: float, digits: list[Cluster]) -> list[Finding]:
    """Everything that capitalised words say; findings may overlap."""
    if glance.text.islower():
        glance = Glance(with_capitals(glance.text))
    places = capitals(glance)
    found = proper_nouns(glance.text, places, threshold) if places else []
    if places or digits:
        addresses = street_addresses(glance, places, digits, threshold)
        found += addresses
        if digits:
            beside = codes_by_places(glance.text, digits, addresses) + ages_of(glance.text, found)
            found += [finding for finding in beside if finding.score >= threshold]
    return found
