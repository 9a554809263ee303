"""Rights as an RBAC authorizer grants them: by rules of Roles, for who shows a token."""

from typing import Any, NamedTuple

from tests.support.kubernetes.store import ApiFault


class Asked(NamedTuple):
    """One request as RBAC sees it."""

    verb: str
    group: str
    resource: str  # with its subresource: `deployments/scale`
    namespace: str  # empty: of the cluster
    name: str

    @property
    def right(self) -> tuple[str, str, str]:
        return self.group, self.resource, self.verb


class Rights:
    """What holders of tokens may do; a token that nobody knows is nobody's."""

    def __init__(self) -> None:
        self._rules: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.asked: list[Asked] = []

    def grant(self, token: str, namespace: str, rules: list[dict[str, Any]]) -> None:
        """Those of a Role in its namespace; with an empty namespace, of a ClusterRole."""
        self._rules.setdefault(token, []).extend((namespace, rule) for rule in rules)

    def revoke(self, token: str) -> None:
        self._rules[token] = []

    def check(self, token: str, asked: Asked) -> None:
        self.asked.append(asked)
        if token not in self._rules:
            raise ApiFault(401, "Unauthorized", "Unauthorized")
        if not any(place in ("", asked.namespace) and _grants(rule, asked) for place, rule in self._rules[token]):
            where = f' in the namespace "{asked.namespace}"' if asked.namespace else " at the cluster scope"
            raise ApiFault(
                403,
                "Forbidden",
                f'{asked.resource} "{asked.name}" is forbidden: User "{token}" cannot {asked.verb} resource '
                f'"{asked.resource}" in API group "{asked.group}"{where}',
            )


def _grants(rule: dict[str, Any], asked: Asked) -> bool:
    names = rule.get("resourceNames")
    return (
        _has(rule["apiGroups"], asked.group)
        and _has(rule["resources"], asked.resource)
        and _has(rule["verbs"], asked.verb)
        and (not names or asked.name in names)
    )


def _has(those: list[str], one: str) -> bool:
    return "*" in those or one in those
