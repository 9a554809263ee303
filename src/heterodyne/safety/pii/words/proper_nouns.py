"""People, places and companies in a text: every run of capitalised words goes to the kind it looks like most."""

import re

from heterodyne.safety.finding import Finding
from heterodyne.safety.pii.words.organisations import organisation_score
from heterodyne.safety.pii.words.persons import person_score
from heterodyne.safety.pii.words.places import place_score
from heterodyne.safety.pii.words.runs import TOKEN, Run, runs


def proper_nouns(text: str, places: list[re.Match[str]], threshold: float) -> list[Finding]:
    """What the runs at some places of a text are."""
    found: list[Finding] = []
    for match in places:
        for run in runs(text, match.start(), match.end()):
            finding = _judged(run, text)
            if finding is not None and finding.score >= threshold:
                found.append(finding)
    return found


def _judged(run: Run, text: str) -> Finding | None:
    person, titles = person_score(run, text)
    place, first, last = place_score(run, text)
    organisation = organisation_score(run, text)
    best = max(person, place, organisation)
    if best == 0.0:
        return None
    if organisation == best or (organisation and person < 0.75 and place < 0.75):
        return Finding(start=run.start, end=run.end, rule="organisation", score=organisation)
    if place == best:
        start, end = _part(run, text, first, last)
        return Finding(start=start, end=end, rule="place", score=place)
    start, end = _part(run, text, titles, len(run.words))
    return Finding(start=start, end=end, rule="person", score=person)


def _part(run: Run, text: str, first: int, last: int) -> tuple[int, int]:
    """The characters of some of the run's words."""
    if first == 0 and last == len(run.words):
        return run.start, run.end
    tokens = list(TOKEN.finditer(text, run.start, run.end))
    capitals = [token for token in tokens if token[0][0].isupper()][: len(run.words)]
    if last > len(capitals):
        return run.start, run.end
    return capitals[first].start(), capitals[last - 1].end()
