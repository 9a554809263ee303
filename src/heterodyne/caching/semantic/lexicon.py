"""The words that the verifier knows: English only. Numbers, names, symbols and code need no list."""

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATIONS: Final = _words(
    "not no never none neither nor without cannot nothing nobody nowhere unable except dont doesnt didnt isnt arent "
    "wasnt werent cant couldnt shouldnt wouldnt wont havent hasnt hadnt aint"
)

# "one" is missing: it is most often a pronoun.
_NUMBERS: Final = (
    "zero=0 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 "
    "fourteen=14 fifteen=15 sixteen=16 seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 "
    "sixty=60 seventy=70 eighty=80 ninety=90 hundred=100 thousand=1000 lakh=100000 million=1000000 "
    "billion=1000000000 second=2 third=3 fourth=4 fifth=5 twice=2 half=0.5"
)
NUMBER_WORDS: Final = {pair.partition("=")[0]: pair.partition("=")[2] for pair in _words(_NUMBERS)}

# "march" and "may" are missing: they are verbs more often than months.
DATE_WORDS: Final = _words(
    "january february april june july august september october november december monday tuesday wednesday thursday "
    "friday saturday sunday today tomorrow yesterday tonight weekend spring summer autumn winter christmas easter"
)

# Spelling to unit: what is measured in another unit is another question.
UNITS: Final = {
    spelling: spellings[0]
    for spellings in (
        line.split()
        for line in (
            "km kms kilometer kilometers kilometre kilometres",
            "mile miles mi",
            "m meter meters metre metres",
            "cm centimeter centimeters centimetre centimetres",
            "mm millimeter millimeters millimetre millimetres",
            "inch inches",
            "ft foot feet",
            "kg kgs kilo kilos kilogram kilograms",
            "lb lbs pounds",
            "gram grams",
            "mg milligram milligrams",
            "ounce ounces oz",
            "liter liters litre litres",
            "gallon gallons",
            "celsius centigrade",
            "fahrenheit",
            "kelvin",
            "sec secs seconds",
            "minute minutes mins",
            "hour hours hrs",
            "day days",
            "week weeks",
            "month months",
            "year years yrs",
            "percent %",
            "usd dollar dollars $",
            "euro euros eur €",
            "gbp £",
            "inr rupee rupees rs ₹",
            "kb kilobyte kilobytes",
            "mb megabyte megabytes",
            "gb gigabyte gigabytes",
            "tb terabyte terabytes",
            "mph",
            "kmph kph",
            "volt volts",
            "watt watts",
            "amp amps ampere amperes",
        )
    )
    for spelling in spellings
}

# The two sides of each pair. A prompt with the one side alone does not ask what one with the other side alone asks.
_OPPOSITES: Final = (
    "best good better top great|worst bad worse terrible",
    "increase increases increasing raise gain grow|decrease decreases decreasing reduce lose lower shrink",
    "advantage advantages benefit benefits pros|disadvantage disadvantages drawback drawbacks cons",
    "buy buying purchase|sell selling",
    "before|after",
    "above over|below under beneath",
    "more most|less least fewer",
    "start begin starting open enable activate|stop end quit close disable deactivate",
    "add install insert|remove delete uninstall erase",
    "first|last",
    "high higher highest|low lower lowest",
    "male males man men boy boys guy guys|female females woman women girl girls",
    "husband father son brother|wife mother daughter sister",
    "true|false",
    "legal|illegal",
    "possible|impossible",
    "safe|dangerous unsafe",
    "fast faster quick|slow slower",
    "cheap cheapest cheaper|expensive",
    "hot hotter|cold colder",
    "old older oldest|new newer newest young younger",
    "big bigger large larger largest biggest|small smaller smallest",
    "long longer longest tall taller|short shorter shortest",
    "win|lose losing",
    "love|hate",
    "left|right",
    "north|south",
    "east|west",
    "import|export",
    "encrypt encode|decrypt decode",
    "upload|download",
    "send|receive",
    "minimum min minimise minimize|maximum max maximise maximize",
    "always|never",
    "online|offline",
    "positive|negative",
    "external|internal",
    "public|private",
    "ascending|descending",
    "lend|borrow",
    "borrower|lender",
    "employer|employee",
    "give|take get",
    "alive|dead",
)


def _sides() -> dict[str, tuple[tuple[int, int], ...]]:
    sides: dict[str, tuple[tuple[int, int], ...]] = {}
    for pair, line in enumerate(_OPPOSITES):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                sides[word] = (*sides.get(word, ()), (pair, side))
    return sides


# Word to the pairs that it is in, and on which side.
OPPOSITES: Final = _sides()

# Words between two things whose order matters.
DIRECTIONS: Final = _words("than to from into over versus vs by")

# What a question asks for. Kinds in one group may stand for each other ("how do I", "what is the best way to").
QUESTION_KINDS: Final = {
    "how": "manner",
    "what": "thing",
    "which": "thing",
    "why": "reason",
    "when": "time",
    "where": "place",
    "who": "person",
    "whom": "person",
    "whose": "person",
}
QUESTION_AMOUNTS: Final = _words("many much long old far often tall big fast deep heavy high large")
YES_NO_OPENERS: Final = _words(
    "is are was were do does did can could should would will shall has have had am may might must"
)

FUNCTION_WORDS: Final = _words(
    "a an the is are was were be been being do does did am i you my your it its of in on for to and or s t can could "
    "should would will shall what how why when who which where that this these those there have has had if any some "
    "with at by from as me we they he she him her them our us so than then into about get got just please tell"
)
