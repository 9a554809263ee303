"""The filters of queries: a WHERE clause and its values, apart from each other."""

from heterodyne.domain.usage import UsageGroup


def text(value: str) -> str:
    """PostgreSQL's texts have no zero bytes, and both stores hold the same."""
    return value.replace("\x00", "\ufffd") if "\x00" in value else value


class Conditions:
    """A WHERE clause that grows, with its values apart from it."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self.values: tuple[object, ...] = ()

    def add(self, condition: str, *values: object) -> None:
        """A condition whose places are written as {}."""
        first = len(self.values) + 1
        self._conditions.append(condition.format(*(f"${number}" for number in range(first, first + len(values)))))
        self.values += values

    def add_groups(self, where: dict[UsageGroup, str]) -> None:
        """One condition for each; only the closed set of columns ever becomes SQL."""
        for group, value in where.items():
            self.add(f"{UsageGroup(group).value} = {{}}", text(value))

    def add_days(self, since: str | None, until: str | None) -> None:
        """Whole days, the last one left out."""
        if since is not None:
            self.add("day >= {}", since)
        if until is not None:
            self.add("day < {}", until)

    def place(self, value: object) -> str:
        """A place for one more value, after the clause."""
        self.values += (value,)
        return f"${len(self.values)}"

    def sql(self) -> str:
        """The clause, empty when everything is meant."""
        return f"WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
