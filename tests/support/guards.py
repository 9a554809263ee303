"""Things that guards find, put together here so that no file of this project holds one."""

from heterodyne.domain.answer_guard import StreamGuard
from heterodyne.safety.policy import GuardPlan, GuardPolicy
from heterodyne.safety.settings import GuardSettings

SECRET = "-".join(("sk", "ant", "api03", "Zx9kQ2mV7pL4tR8wY1nB6cD3fG5hJ0sA"))
EMAIL = "jane.doe@example.com"
BLOCKS = {"no-secrets": GuardSettings(guard="secrets", action="block")}
MASKS = {"private": GuardSettings(guard="pii", action="mask", kinds=("email",))}
SERVED_WITH_BLOCKS = """
[pools.own]
model = "scripted"
engine = "vllm"
urls = ["{url}"]

[guards.no-secrets]
guard = "secrets"
action = "block"
"""


def all_of(check: StreamGuard, data: bytes) -> tuple[bytes, ...]:
    """All events that take the place of one, in however many steps."""
    made = check(data)
    while check.owes:
        made += check.more()
    return made


def plan(policies: dict[str, GuardSettings]) -> GuardPlan:
    """What looks at everybody's requests."""
    found = GuardPolicy(policies).plan("acme/search", "chat", "chat")
    assert found is not None
    return found
