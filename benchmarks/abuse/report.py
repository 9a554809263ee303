"""The page of figures."""

from benchmarks.abuse.results import OrdinaryRow, Results

HEAD = """\
# How well abuse is told from use

Written by `make bench-abuse`; do not edit. All policies have their default thresholds, which
[the guide](guides/abuse.md) explains.

## Ordinary prompts

Each source is dealt at random to 100 keys over one hour, and each key counts that a policy finds. None of them should
be. The last column has single prompts that ask for a system prompt or for training data by our rules; ten of one key
in an hour make a finding.

"""
EVALUATIONS = """
Test sets are another matter: nearly all prompts of a task of BIG-bench are one template. Dealt to 100 keys they look
like what they are, one program spread over many keys. Whoever runs evaluations with several keys names them in
`exempt_keys`.

"""
CAMPAIGNS = """
## One template over many keys

A template of some fifty words is sent 20 times by each key within an hour, its slots filled anew each time, and a share
of all words replaced by other ones, as a paraphrase would; beside it 100 keys send the prompts of ShareGPT. Each row
is {repeats} campaigns. Two prompts of one campaign have both been changed, so with 30 % changed they share less than
half of their words.

"""
REWORDED = """
Rewordings are seen in part: of {same:,} pairs of Quora questions that people call the same, with eight long words
each, {same_share:.0%} are taken for one prompt. Of {other:,} pairs that were chosen for their likeness, and that people
call different, {other_share:.0%} are: what is found is likeness of words, and how often each key sends them decides.
"""
SPENDING = """
## Spending

**False alarms as stated.** The setting is one a year for a key that is in use at every hour. Keys whose hours are
drawn from a log-normal distribution with a daily wave, {keys} of them over {days} days each, judged by the statistical
threshold and by the dearest hour of the fortnight alone (neither `usd_min` nor `factor_min`):

"""
REAL = """
**Real clients.** ServeGen's trace has the arrivals of {clients} clients of a cloud over two weeks, whose tokens were
priced at $0.15 and $0.60 a million. With `usd_min = 0` there are {alarms} hours with an alarm among {active:,.0f} hours
in use, at {alarmed} of the clients: {per_year:.0f} in a year of use and not one, as real clients begin to do something
new. Each spends more in that hour than in any of the fortnight before, and three times the usual.

**Stolen keys.** In a copy of each of the {busy} busier clients a thief brings spending to so many times its mean of
active hours, for a day in the second week:

"""
COST = """
## What it costs

Processor time, the best of several rounds, with all three kinds of watching on. The first is added to the worker's
loop; the next are taken by a thread of the worker; the last is the supervisor's. Where no policy is set, a request
takes two comparisons with `None`.

"""


def page(results: Results) -> str:
    """All of it."""
    drawn, real = results.drawn, results.clients
    parts = [
        HEAD,
        _ordinary(results.ordinary),
        EVALUATIONS,
        _ordinary(results.evaluations),
        CAMPAIGNS.format(repeats=10),
        _table(
            ("Keys", "Words changed", "Keys found", "Prompts until then (median)", "Others found"),
            [
                (row.keys, f"{row.changed:.0%}", f"{row.found:.0%}", row.prompts or "-", row.innocent)
                for row in results.campaigns
            ],
        ),
        REWORDED.format(**results.reworded._asdict()),
        SPENDING.format(keys=120, days=60),
        _table(
            ("Deviation of the logarithm of an hour", "False alarms of a key in a year"),
            [(wide, f"{count:.2f}") for wide, count in drawn.items()],
        ),
        REAL.format(
            clients=real.clients,
            alarms=real.alarms,
            active=real.active_hours,
            alarmed=real.alarmed,
            per_year=real.alarms / real.active_hours * 8766,
            busy=results.thefts[0].clients,
        ),
        _table(
            ("Times the mean", "Found", "Hours until then (median)"),
            [
                (f"{row.factor:g}", f"{row.found} of {row.clients}", "-" if row.hours is None else f"{row.hours:.1f}")
                for row in results.thefts
            ],
        ),
        COST,
        _costs(results),
    ]
    return "".join(parts)


def _ordinary(rows: list[OrdinaryRow]) -> str:
    return _table(
        ("Source", "Prompts", "Keys found: similar prompts", "Keys found: extraction", "Prompts for words of others"),
        [(row.source, f"{row.prompts:,}", row.similar, row.extraction, row.verbatim) for row in rows],
    )


def _costs(results: Results) -> str:
    costs = results.costs
    rows = [
        ("Whether a policy looks at a request", f"{costs.choose_us:.1f} µs"),
        *((f"Reading and signing: {what}", f"{read_us:.0f} µs") for what, read_us in costs.read_us.items()),
        ("Judging a sign", f"{costs.judge_us:.0f} µs"),
        ("Memory of 10,000 groups of prompts, the most of one policy", f"{costs.clusters_mib:.0f} MiB"),
        ("Memory of what 10,000 keys spend, the most of one policy", f"{costs.spending_mib:.0f} MiB"),
    ]
    return _table(("What", "Takes"), rows)


def _table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"
