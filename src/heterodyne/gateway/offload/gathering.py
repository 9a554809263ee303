"""The texts that guards elsewhere are shown."""

from collections.abc import Sequence

from heterodyne.gateway.offload.job import GatherTexts
from heterodyne.safety.answer_check import check_answer
from heterodyne.safety.placeholders import Placeholders
from heterodyne.safety.policy import GuardRule, split
from heterodyne.safety.remote.asked_texts import AskedTexts, texts_of_answer, texts_of_request


def gathered(rules: Sequence[GuardRule], job: GatherTexts, body: bytes) -> AskedTexts:
    """What they may see of it; `rules` are those that look here."""
    if not job.is_answer:
        return texts_of_request(body, job.media_type)
    if rules:
        _, body = check_answer(split(rules)[0], Placeholders(job.values), body, restores=False)
    return texts_of_answer(body)
