"""The texts that artifacts are judged on, where the operator names none: prose, code, figures and other scripts."""

from pathlib import Path

from heterodyne.domain.errors import SettingsInvalid

TEXTS = (
    "The lighthouse keeper climbed the last of the stairs, set down his lamp and looked out over the water. "
    "Nothing moved. Far below, the waves broke against the rocks as they had every night for thirty years, and he "
    "wondered",
    "To make the dough, mix the flour with a pinch of salt, add two eggs and a little cold water, and knead it "
    "until it no longer sticks to the table. Let it rest for half an hour. Then roll it out as thin as you can and "
    "cut it",
    "def moving_average(values, width):\n    total = sum(values[:width])\n    averages = [total / width]\n    for "
    "index in range(width, len(values)):\n        total += values[index] - values[index - width]\n        "
    "averages.append(",
    "SELECT customers.name, COUNT(*) AS orders, SUM(orders.total) AS spent\nFROM customers\nJOIN orders ON "
    "orders.customer_id = customers.id\nWHERE orders.created_at >= '2024-01-01'\nGROUP BY customers.name\nORDER BY "
    "spent DESC",
    '{"name": "Ada Lovelace", "born": 1815, "works": [{"title": "Notes on the Analytical Engine", "year": 1843}], '
    '"known_for": "the first published program for a machine that was never", "city": "London", "country": '
    '"England"}',
    "Question: A train leaves at 9:15 and travels 180 kilometres at 60 kilometres per hour. When does it arrive? "
    "Answer: It travels for 180 / 60 = 3 hours, so it arrives at 12:15. Question: A shop sells pens at 3 dollars "
    "each",
    "Photosynthesis is the process by which plants use sunlight, water and carbon dioxide to make sugar and "
    "oxygen. It takes place in the chloroplasts, where a green pigment called chlorophyll absorbs light. The sugar "
    "is then used",
    "Dear Ms. Tanaka, thank you for your message of 14 March. I am sorry to hear that the parcel arrived damaged. "
    "We have sent a replacement today, which should reach you by Friday; you do not need to return the first one. "
    "If",
    "The committee met on Tuesday to discuss the budget for the coming year. Several members said that the costs "
    "of heating had doubled since 2019, while others pointed out that the number of visitors had grown by 12 "
    "percent.",
    "Am Morgen lag Nebel über dem Tal, und von den Dächern der kleinen Stadt war nichts zu sehen als der Turm der "
    "Kirche. Der Bäcker hatte schon um vier Uhr das Feuer angezündet; jetzt öffnete er die Tür und stellte die "
    "Körbe",
    "La ville s'étend le long du fleuve, entre deux collines couvertes de vignes. Chaque matin, les marchands "
    "installent leurs étals sur la place, devant l'église, et l'on entend de loin le bruit des charrettes et les "
    "cris",
    "1. Turn off the power before you open the case.\n2. Hold the card by its edges and never touch the contacts.\n"
    "3. Press it into the slot until both clips close.\n4. Connect the cable, close the case and turn the power "
    "on.\n5.",
    "In mathematics, a prime number is a natural number greater than 1 that is not the product of two smaller "
    "natural numbers. The first ones are 2, 3, 5, 7, 11, 13, 17, 19, 23 and 29. There are infinitely many of them, "
    "as Euclid",
    "- What are you reading?\n- A book about whales.\n- Is it any good?\n- It is long. The first half is about "
    "rope.\n- And the second half?\n- I will tell you when I get there. Do you want to borrow it when I am done?\n"
    "- Only if",
    "#include <stdio.h>\n\nint main(void) {\n    int sum = 0;\n    for (int i = 1; i <= 100; i++) {\n        if (i "
    '% 3 == 0 || i % 5 == 0) {\n            sum += i;\n        }\n    }\n    printf("%d\\n", sum);\n    return 0;\n'
    "}\n",
    "海は静かで、空には雲ひとつなかった。 Il mare era calmo e nel cielo non c'era una nuvola. El mar estaba en "
    "calma y no había ni una nube en el cielo. Море было спокойно, и на небе не было ни облачка. The sea was calm "
    "and there",
)

# What activations are measured on: others than those that builds are then judged by.
CALIBRATION_TEXTS = (
    "The old mill stood at the end of the lane, where the river bends to the east. In summer the children went "
    "there to swim, and in winter the miller's widow sold apples from a barrel by the door to whoever came past.",
    "Our quarterly revenue rose by 8 percent to 412 million euros, driven by strong demand in Asia. Operating "
    "costs were flat, and the board proposes a dividend of 1.20 euros per share, payable on 3 June.",
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n        "
    "self.items.append(item)\n\n    def pop(self):\n        if not self.items:\n            raise IndexError(",
    "Water boils at 100 degrees Celsius at sea level, and at lower temperatures on high mountains, because the "
    "pressure of the air is lower there. A pressure cooker does the opposite: it raises the boiling point, so that "
    "food",
    'User: How do I reset my password?\nAssistant: Open the settings, choose "Security" and then "Reset password". '
    "You will get an email with a link; it is valid for one hour.\nUser: I did not get an email.\nAssistant:",
    "<table>\n  <tr><th>City</th><th>Population</th></tr>\n  <tr><td>Lyon</td><td>522,000</td></tr>\n  "
    "<tr><td>Porto</td><td>231,000</td></tr>\n</table>\n<p>Figures are rounded to the nearest thousand.</p>",
    "Le train part à sept heures du matin et arrive à midi. Wer früh bucht, zahlt weniger. El museo cierra los "
    "lunes y abre de diez a seis los demás días. Il biglietto costa dodici euro per gli adulti e sei per i bambini.",
    "If x + 3 = 11, then x = 8. If 2y = 18, then y = 9. The sum of x and y is 17, their product is 72, and the "
    "difference of their squares is 81 - 64 = 17. A triangle with sides 8, 15 and 17 has a right angle, because",
)


def read_texts(path: Path | None) -> tuple[str, ...]:
    """The lines of a file that are not empty; of none, ours."""
    if path is None:
        return TEXTS
    try:
        found = tuple(line for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    except UnicodeDecodeError as error:
        raise SettingsInvalid(f"{path}: is not text in UTF-8: {error}") from error
    if not found:
        raise SettingsInvalid(f"{path}: has no text")
    return found
