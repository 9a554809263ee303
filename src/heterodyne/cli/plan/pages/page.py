"""The frame around every page: title, verdict, sections, and how it was made."""

from datetime import date

from msgspec import Struct

from heterodyne.cli.plan.pages.element import Markup, element, joined
from heterodyne.cli.plan.pages.style import STYLE

MODELLED = (
    "How far the performance model was from published measurements, chip by chip and engine by engine, "
    "is in docs/physics-accuracy.md of Heterodyne."
)
NOT_MODELLED = (
    "No figure here comes from the performance model of times and rates, whose errors are in docs/physics-accuracy.md "
    "of Heterodyne."
)


class Provenance(Struct, frozen=True, kw_only=True):
    """How a page came about, so that it can be made again."""

    command: str
    day: date
    version: str  # of Heterodyne


class PageVerdict(Struct, frozen=True, kw_only=True):
    """The answer in a sentence."""

    sentence: str
    is_good: bool = True


def page(
    *,
    title: str,
    question: str,
    verdict: PageVerdict,
    sections: tuple[Markup, ...],
    honesty: str,  # what the figures rest on
    is_modelled: bool,  # whether times or rates of the performance model are among them
    provenance: Provenance,
) -> str:
    """A whole document."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(STYLE)),
    )
    body = element(
        "body",
        element(
            "header",
            element("h1", title),
            element("p", question, class_="question"),
            element("p", verdict.sentence, class_="verdict" if verdict.is_good else "verdict bad"),
        ),
        element("main", *sections),
        _footer((honesty, MODELLED if is_modelled else NOT_MODELLED), provenance),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def section(heading: str, *children: str) -> Markup:
    """A part of the page under its own heading."""
    return element("section", element("h2", heading), *children)


def paragraph(text: str) -> Markup:
    """One paragraph of explanation."""
    return element("p", text)


def item_list(items: tuple[str, ...]) -> Markup:
    """Sentences, one below the other."""
    return element("ul", *(element("li", item) for item in items))


def figure(drawing: Markup, caption: str) -> Markup:
    """A drawing and what it shows; it scrolls by itself where the screen is too narrow for its text."""
    return element(
        "figure",
        element("div", drawing, class_="scroll", tabindex="0", role="group", aria_label=caption),
        element("figcaption", caption),
    )


def _footer(honesty: tuple[str, ...], provenance: Provenance) -> Markup:
    return element(
        "footer",
        element("h2", "What the figures rest on"),
        *(element("p", sentence) for sentence in honesty),
        element("p", "Made by ", element("code", provenance.command)),
        element(
            "p",
            joined(
                (
                    "Heterodyne ",
                    provenance.version,
                    ", ",
                    element("time", provenance.day.isoformat(), datetime=provenance.day.isoformat()),
                )
            ),
        ),
    )
