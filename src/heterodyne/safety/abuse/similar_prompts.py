"""One prompt, or nearly one, by too many keys: whoever spreads a program over keys to pass below their limits.

A question that everybody asks today is asked once or twice by each; a program that was spread asks again and again.
So a key counts once it has sent such prompts several times.
"""

from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.safety.abuse import settings as defaults
from heterodyne.safety.abuse.finding import AbuseFinding
from heterodyne.safety.abuse.prompt_clusters import PromptCluster, PromptClusters, Sender
from heterodyne.safety.abuse.settings import AbuseSettings

RULE = "near_identical"


class SimilarPrompts:
    """What one policy knows."""

    def __init__(self, policy: str, settings: AbuseSettings) -> None:
        self._policy = policy
        self._keys_min = settings.keys_min or defaults.KEYS_MIN
        self._prompts_min = settings.prompts_min or defaults.PROMPTS_MIN
        self._words_min = settings.words_min or defaults.WORDS_MIN
        self._window_s = settings.window_s or defaults.WINDOW_S
        self._by_project = settings.across == "projects"
        self._clusters = PromptClusters(settings.similarity_min or defaults.SIMILARITY_MIN, self._window_s)

    def observe(self, sign: AbuseSign) -> list[AbuseFinding]:
        """All keys of a group, once there are too many of them, and every key that joins it then."""
        if sign.words < self._words_min or not sign.signature:
            return []
        cluster = self._clusters.add(sign.signature, sign.key, sign.project, sign.at)
        if len(cluster.senders) < self._keys_min:
            return []
        sending = self._sending(cluster, sign.at)
        holders = len({one.project for one in sending}) if self._by_project else len(sending)
        if holders < self._keys_min:
            return []
        what = "projects" if self._by_project else "keys"
        return [
            AbuseFinding(
                policy=self._policy,
                watch="similar_prompts",
                rule=RULE,
                key=one.key,
                project=one.project,
                at=sign.at,
                detail=f"{one.prompts.count(sign.at):.0f} prompts like those of {holders - 1} other {what}",
            )
            for one in sending
        ]

    def _sending(self, cluster: PromptCluster, at: float) -> list[Sender]:
        since_at = at - self._window_s
        return [
            one
            for one in cluster.senders.values()
            if one.last_at >= since_at and one.prompts.count(at) >= self._prompts_min
        ]
