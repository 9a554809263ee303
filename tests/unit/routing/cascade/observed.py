"""Made-up traffic: long prompts are hard for the small model, and a judge that sees most of its mistakes."""

from hashlib import blake2b

from heterodyne.routing.cascade.observed_row import ObservedAnswer, ObservedRow

EASY = ("capital of France", "colour of grass", "boiling point of water", "largest ocean")
HARD = ("prove the lemma on compact operators", "derive the spectrum of the Laplacian", "bound the entropy rate")


def lot(*words: object) -> float:
    """A number from 0 to 1 that depends on the words alone."""
    digest = blake2b(" ".join(map(str, words)).encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / (1 << 32)


def observed_row(number: int, *, is_judged: bool = True) -> ObservedRow:
    """Half easy (small right in 95 of 100), half hard (in 30 of 100); the large one is right in 90 of 100."""
    is_hard = lot("kind", number) < 0.5
    subjects = HARD if is_hard else EASY
    small = float(lot("small", number) < (0.3 if is_hard else 0.95))
    large = float(lot("large", number) < 0.9)
    doubt = 0.1 if lot("judge", number) < 0.85 else 0.8
    return ObservedRow(
        prompt=f"Question {number}: what about the {subjects[number % len(subjects)]}?",
        models={
            "small": ObservedAnswer(quality=small, usd=0.001, ms=100.0),
            "large": ObservedAnswer(quality=large, usd=0.02, ms=900.0),
        },
        judges={"consistency": doubt if small else 0.9 - doubt} if is_judged else {},
        judge_usd=0.0005 if is_judged else 0.0,
        judge_ms=20.0 if is_judged else 0.0,
    )


def traffic(count: int, start: int = 0, *, is_judged: bool = True) -> list[ObservedRow]:
    return [observed_row(number, is_judged=is_judged) for number in range(start, start + count)]
