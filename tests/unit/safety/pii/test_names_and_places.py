"""People, places, companies and addresses, by lists and by what stands around them. All of them are invented."""

import pytest

from heterodyne.safety.pii.finder import PIIFinder
from heterodyne.safety.pii.registry import KINDS

FINDER = PIIFinder(KINDS)

FOUND = [
    ("person", "my name is Thelxinoe", "Thelxinoe"),
    ("person", "Yesterday I met Hannah Brandt at lunch.", "Hannah Brandt"),
    ("person", "Please ask Mr. Okonjo about it.", "Okonjo"),
    ("person", "Please ask Mr. May about it.", "May"),
    ("person", "It was signed by Dr. Q. Vexley in ink.", "Q. Vexley"),
    ("person", "They quote Jan van der Linden often.", "Jan van der Linden"),
    ("person", "Best regards,\nOlwen Pryce", "Olwen Pryce"),
    ("person", "I read Marta's letter twice.", "Marta"),
    ("person", "Sigurjón R. Hallsson wrote that.", "Sigurjón R. Hallsson"),
    ("person", "my name is walter krone and i am late", "walter krone"),
    ("person", "follow up with monika maybrook soon", "monika maybrook"),
    ("place", "We flew from Lisbon in spring.", "Lisbon"),
    ("place", "the office in NEW YORK is shut", "NEW YORK"),
    ("place", "She grew up in Northern Ireland with goats.", "Northern Ireland"),
    ("place", "I am travelling to Vorzelheim tomorrow", "Vorzelheim"),
    ("place", "i live in denmark now", "denmark"),
    ("organisation", "I work for Quill and Sons", "Quill"),
    ("organisation", "The invoice is from Northwind Ltd today", "Northwind Ltd"),
    ("street_address", "I live at 12 Elm Street, Springfield", "12 Elm Street, Springfield"),
    ("street_address", "send it to 7 Rue des Lilas Apt. 4, Lyon 69001 please", "7 Rue des Lilas Apt. 4, Lyon 69001"),
    ("street_address", "Wir wohnen in der Lindenstraße 14 in Mainz", "Lindenstraße 14"),
    ("street_address", "Mail goes to P.O. Box 1203, Dunedin", "P.O. Box 1203, Dunedin"),
    ("street_address", "they met at the corner of Oak and Vine", "Oak and Vine"),
    ("street_address", "Visit 12 Elm Street 415 555 0132 any day", "12 Elm Street"),
    ("street_address", "we are at 7 Elm Street, Tromsø NO 9008", "7 Elm Street, Tromsø NO 9008"),
    ("street_address", "elle habite au 31 rue de la Tannerie à Quillac", "31 rue de la Tannerie"),
    ("street_address", "il est au 8 boulevard d'Arras", "8 boulevard d'Arras"),
    ("street_address", "la cita es en Avda. Rosal 58 mañana", "Avda. Rosal 58"),
    ("street_address", "it is at the corner of Elmvej 12 and Quill Street", "Elmvej 12 and Quill Street"),
    ("street_address", "Jo\n12 Quillporta 40\nApt. 169\n", "12 Quillporta 40\nApt. 169"),
    ("street_address", "> Quillporta 40\n> Suite 9\n", "Quillporta 40\n> Suite 9"),
    ("street_address", "write to PSC 1203, Box 77\nAPO AE 09123 for that", "PSC 1203, Box 77\nAPO AE 09123"),
    ("street_address", "USNS Quill\nFPO AP 96601-4521", "USNS Quill\nFPO AP 96601-4521"),
    ("postal_code", "The depot in Vorzelheim 36101 is shut.", "36101"),
    ("postal_code", "It went from Lisbon 1100-042 to us.", "1100-042"),
    ("postal_code", "Ask in Quillport, OR 97103.", "97103"),
    ("postal_code", "Hauptpost\n50668 Cologne", "50668"),
    ("postal_code", "12 Elm Street\n    Quillport\n    NS\n    4711", "4711"),
    ("postal_code", "my zip code is 880", "880"),
    ("age", "Hannah Brandt (34) has won again.", "34"),
    ("age", "I think Marta is 41 now.", "41"),
    ("age", "She was born 52 years ago.", "52"),
    ("age", "he is only 19 after all", "19"),
]

PLAIN = [
    "Why is Kubernetes slow when Redis is full?",
    "Write a Python function that sorts a list. Use Markdown.",
    "May I ask what Will means in this sentence?",
    "Capitalised words such as Wisdom and Patience are no names.",
    "In 2020 Wall clocks were in fashion.",
    "I bought 3 Apples and 12 Oranges.",
    "What is the capital letter of this alphabet?",
    "Turkey sandwiches are nice.",
    "Write that 3500 people came in 2019, 4711 of them by bus.",
    "On 3 avenue was the word most used, and 12 rue the day.",
    "We ran 12 of them.\nSuite 3 failed.",
    "The APO A12 is a card.",
    "Release 4021 came before Chapter 3900 was written.",
    "Summarise Chapter 4. Explain Table 12 in English.",
]


@pytest.mark.parametrize(("kind", "text", "value"), FOUND)
def test_it_is_found_by_what_stands_around_it(kind, text, value):
    assert (kind, value) in {(finding.rule, text[finding.start : finding.end]) for finding in FINDER.find(text)}


@pytest.mark.parametrize("text", PLAIN)
def test_capitals_and_numbers_alone_are_nobodys(text):
    assert [finding for finding in PIIFinder().find(text) if finding.rule != "organisation"] == []


@pytest.mark.parametrize(
    "text", ["In Berlin 3500 people marched.", "In Berlin 2019 was warm.", "to Lisbon 12345 times"]
)
def test_a_number_behind_a_place_that_counts_something_or_may_be_a_year_is_no_postal_code(text):
    assert PIIFinder(["postal_code"]).find(text) == []


def test_a_company_is_not_taken_for_a_person_when_companies_are_not_asked_for():
    text = "I work for Hannah Brandt Holdings"
    assert PIIFinder(["person"]).find(text) == []
    assert [finding.rule for finding in PIIFinder(["organisation"]).find(text)] == ["organisation"]
