"""Series of requests that copy a model, or what it was told and trained on, rather than use it.

What tells them from work is in the requests' own fields: log probabilities, several answers and biased tokens for very
many different prompts, which is what copying a model takes; one prompt at every temperature; and asking for the system
prompt or for training data again and again. A great many prompts of one template are counted as well, where the
operator says how many are too many: most programs have templates.
"""

from collections import OrderedDict
from typing import Final, final

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse import settings as defaults
from heterodyne.safety.abuse.finding import AbuseFinding
from heterodyne.safety.abuse.minhash import similarity
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.safety.abuse.windowed_count import WindowedCount

KEYS_MAX: Final = 4096
TEMPLATES_MAX: Final = 16  # of one key
TEMPERATURES_MAX: Final = 256  # of one template
REPEATS_KNOWN: Final = 32  # prompts of a key that are known again; the same prompt is counted once among so many

LOGITS: Final = "logits"
TEMPERATURES: Final = "temperature_sweep"
VERBATIM: Final = "verbatim"
SERIES: Final = "template_series"


@final
class Template:
    """Prompts of one key that are nearly one."""

    __slots__ = ("prompts", "signature", "temperatures")

    def __init__(self, signature: bytes, window_s: float) -> None:
        self.signature = signature
        self.prompts = WindowedCount(window_s)
        self.temperatures: OrderedDict[float, float] = OrderedDict()  # and when each was last asked for


@final
class KeySeries:
    """What one key has sent."""

    __slots__ = ("last_at", "logits", "recent", "templates", "verbatim")

    def __init__(self, window_s: float) -> None:
        self.logits = WindowedCount(window_s)
        self.verbatim = WindowedCount(window_s)
        self.templates: list[Template] = []  # the one heard of last is the last
        self.recent: OrderedDict[int, None] = OrderedDict()
        self.last_at = 0.0


class Extraction:
    """What one policy knows."""

    def __init__(self, policy: str, settings: AbuseSettings, *, keys_max: int = KEYS_MAX) -> None:
        self._policy = policy
        self._keys_max = keys_max
        self._window_s = settings.window_s or defaults.WINDOW_S
        self._similarity_min = settings.similarity_min or defaults.SIMILARITY_MIN
        self._words_min = settings.words_min or defaults.WORDS_MIN
        self._logits_min = settings.logits_min or defaults.LOGITS_MIN
        self._temperatures_min = settings.temperatures_min or defaults.TEMPERATURES_MIN
        self._verbatim_min = settings.verbatim_min or defaults.VERBATIM_MIN
        self._series_min = settings.series_min
        self._keys: OrderedDict[str, KeySeries] = OrderedDict()  # the one heard of last is the last

    def __len__(self) -> int:
        return len(self._keys)

    def observe(self, sign: AbuseSign) -> list[AbuseFinding]:
        """What the key is found by now."""
        if not sign.words:
            return []
        series, at = self._series(sign), sign.at
        found: list[AbuseFinding] = []
        is_new = _is_new(series, sign.digest)
        if is_new and sign.has_logits:
            asked = series.logits.add(at)
            if asked >= self._logits_min:
                found.append(self._finding(sign, LOGITS, f"{asked:.0f} different prompts with log probabilities"))
        if is_new and sign.is_verbatim:
            asked = series.verbatim.add(at)
            if asked >= self._verbatim_min:
                found.append(self._finding(sign, VERBATIM, f"{asked:.0f} prompts for words that are not its own"))
        if sign.words >= self._words_min and sign.signature:
            found += self._of_template(self._template(series, sign.signature), sign, is_new=is_new)
        return found

    def _of_template(self, template: Template, sign: AbuseSign, *, is_new: bool) -> list[AbuseFinding]:
        found, at = [], sign.at
        if is_new:
            prompts = template.prompts.add(at)
            if self._series_min is not None and prompts >= self._series_min:
                found.append(self._finding(sign, SERIES, f"{prompts:.0f} different prompts of one template"))
        if sign.temperature is not None:
            asked = template.temperatures
            asked[sign.temperature] = at
            asked.move_to_end(sign.temperature)
            while len(asked) > TEMPERATURES_MAX or next(iter(asked.values())) < at - self._window_s:
                asked.popitem(last=False)
            if len(asked) >= self._temperatures_min:
                found.append(self._finding(sign, TEMPERATURES, f"one prompt at {len(asked)} temperatures"))
        return found

    def _series(self, sign: AbuseSign) -> KeySeries:
        keys = self._keys
        series = keys.get(sign.key)
        if series is None:
            while len(keys) >= self._keys_max or (keys and _first(keys).last_at < sign.at - 2 * self._window_s):
                keys.popitem(last=False)
            series = keys[sign.key] = KeySeries(self._window_s)
        keys.move_to_end(sign.key)
        series.last_at = sign.at
        return series

    def _template(self, series: KeySeries, signature: bytes) -> Template:
        templates = series.templates
        for place in range(len(templates) - 1, -1, -1):
            if similarity(templates[place].signature, signature) >= self._similarity_min:
                templates.append(templates.pop(place))
                return templates[-1]
        if len(templates) >= TEMPLATES_MAX:
            del templates[0]
        templates.append(Template(signature, self._window_s))
        return templates[-1]

    def _finding(self, sign: AbuseSign, rule: str, detail: str) -> AbuseFinding:
        return AbuseFinding(
            policy=self._policy,
            watch="extraction",
            rule=rule,
            key=sign.key,
            project=sign.project,
            at=sign.at,
            detail=detail,
        )


def _is_new(series: KeySeries, digest: int) -> bool:
    recent = series.recent
    is_new = digest not in recent
    recent[digest] = None
    recent.move_to_end(digest)
    if len(recent) > REPEATS_KNOWN:
        recent.popitem(last=False)
    return is_new


def _first(keys: OrderedDict[str, KeySeries]) -> KeySeries:
    return next(iter(keys.values()))
