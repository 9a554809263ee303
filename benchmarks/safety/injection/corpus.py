"""What is trained on and what is tested on: open sets without near-duplicates, and texts of our own."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

from msgspec import Struct

from benchmarks.safety.injection import invented_attacks, invented_benign, near_duplicates, planting, sources
from benchmarks.safety.injection.sources import Sample

OWN_ATTACKS, OWN_BENIGN, OWN_PLANTED, OWN_DOCUMENTS = "own attacks", "own benign", "own planted", "own documents"
OWN_FORMS = "own forms"
ASKED = ("mmlu", "llmrouter", "presidio", "gptcache_mock")  # which questions get them
BENIGN_EACH = 600


class Corpus(Struct, frozen=True, kw_only=True):
    """Attacks and benign texts for training, and benign texts that no model here is trained on."""

    attacks: tuple[Sample, ...]
    benign: tuple[Sample, ...]
    unseen: tuple[Sample, ...]
    xstest: tuple[Sample, ...]
    bipia_code: tuple[Sample, ...]
    counts: dict[str, tuple[int, int]]  # attacks of a source: as they came, and without near-duplicates


def read(data: Path) -> Corpus:
    """Everything from the data folder, and what we add."""
    raw = sources.attacks(data)
    # Planted texts share their documents, so BIPIA's are told apart by their instructions, which all differ.
    planted = [sample for sample in raw if sample.source == sources.BIPIA]
    others = [sample for sample in raw if sample.source != sources.BIPIA]
    attacks = near_duplicates.thinned(others, whole=sources.PURPLE) + planted
    unseen, xstest = sources.unseen_benign(data), sources.xstest(data)
    benign = near_duplicates.apart_from(sources.trained_benign(data, BENIGN_EACH), [*unseen, *xstest])
    counts = {
        name: (sum(one.source == name for one in raw), sum(one.source == name for one in attacks))
        for name in sources.ATTACK_SOURCES
    }
    return Corpus(
        attacks=(*attacks, *own_attacks()),
        benign=(*benign, *own_benign(benign)),
        unseen=tuple(unseen),
        xstest=tuple(xstest),
        bipia_code=tuple(sources.bipia_code_attacks(data)),
        counts=counts,
    )


def own_attacks() -> list[Sample]:
    """Attacks of our templates, and instructions planted into documents of our own."""
    random = Random(3)
    direct = invented_attacks.texts(700, random)
    indirect = planting.planted(planting.PLANTED, planting.bare(), random, each=9)
    indirect += planting.planted(random.sample(direct, 60), planting.bare(), random, each=2)
    return [
        *(Sample(text=text, source=OWN_ATTACKS, is_attack=True) for text in direct),
        *(Sample(text=text, source=OWN_PLANTED, is_attack=True) for text in indirect),
    ]


def own_benign(benign: Sequence[Sample]) -> list[Sample]:
    """Look-alikes, bare documents, and questions of the open sets with our wishes for the form of their answers."""
    random = Random(5)
    questions = sorted(one.text for one in benign if one.source in ASKED and len(one.text) < 900)
    return [
        *(_own(text, OWN_BENIGN) for text in invented_benign.texts(900, random)),
        *(_own(text, OWN_FORMS) for text in invented_benign.with_forms(questions, 900, random)),
        *(_own(text, OWN_DOCUMENTS) for text in planting.bare()),
    ]


def _own(text: str, source: str) -> Sample:
    return Sample(text=text, source=source, is_attack=False)
