"""Items of a response while they come, and the events that tell of it: each a name and its members in JSON."""

from typing import Any, Final

import msgspec
from msgspec import Raw

from heterodyne.domain.errors import EngineGarbage
from heterodyne.gateway.forms.chat_answer import SaidCall
from heterodyne.gateway.forms.responses_items import (
    call_item,
    custom_input,
    message_item,
    reasoning_item,
    refusal_part,
    text_part,
)
from heterodyne.gateway.forms.responses_words import IN_PROGRESS, ResponseWords, encode, new_id

Json = dict[str, Any]
Events = list[tuple[str, bytes]]

PREFIXES: Final = {"reasoning": "rs", "message": "msg"}
NO_LOGPROBS: Final = b'"logprobs":[],'
DELTA_END: Final = b'"}\n\n'
NUMBERS_MAX: Final = 2048
# What stands between the beginning of a delta and its text: a look-up is quicker than writing the digits.
NUMBERED: Final = tuple(b'%d,"delta":"' % number for number in range(NUMBERS_MAX))

_decode_text = msgspec.json.Decoder(str).decode


class GrowingItem:
    """One of them."""

    def __init__(self, prefix: str, place: int, words: ResponseWords) -> None:
        self.id = new_id(prefix)
        self.whole = b""  # as JSON, at its end
        self._place = place
        self._words = words

    def begin(self) -> Events:
        raise NotImplementedError

    def end(self, status: str) -> Events:
        raise NotImplementedError

    def deltas(self, texts: list[bytes], number: int) -> bytes:
        """Pieces more of a text, in JSON without its quotes, as events the first of which has this number."""
        raise NotImplementedError

    def _added(self, item: Json) -> tuple[str, bytes]:
        return "response.output_item.added", b'"output_index":%d,"item":%b' % (self._place, encode(item))

    def _done(self, item: Json) -> tuple[str, bytes]:
        self.whole = encode(item)
        return "response.output_item.done", b'"output_index":%d,"item":%b' % (self._place, self.whole)

    def _at(self) -> bytes:
        return b'"item_id":"%b","output_index":%d' % (self.id.encode(), self._place)


class GrowingText(GrowingItem):
    """What the model thinks, or what it says."""

    def __init__(self, kind: str, place: int, words: ResponseWords) -> None:
        super().__init__(PREFIXES[kind], place, words)
        self.kind = kind
        self.part = ""  # the type of the part that comes; empty: none
        self._parts: list[Json] = []  # that are complete
        self._pieces: list[bytes] = []  # strings in JSON, without their quotes
        self._logprobs: list[Raw] = []
        self._event = b""  # how every delta of the part begins
        self._head = self._between = (
            b""  # of those without log-probabilities, up to the number, and from text to number
        )

    def begin(self) -> Events:
        return [self._added(self._item(IN_PROGRESS))]

    def begin_part(self, part: str) -> Events:
        """Of another type than the last."""
        ended = self._end_part()
        self.part = part
        kind = f"response.{part}.delta".encode()
        self._event = b'event: %b\ndata: {"type":"%b",%b,' % (kind, kind, self._where())
        self._head = self._event + (NO_LOGPROBS if part == "output_text" else b"") + b'"sequence_number":'
        self._between = DELTA_END + self._head
        return [*ended, ("response.content_part.added", b'%b,"part":%b' % (self._where(), encode(self._part(""))))]

    def delta(self, text: bytes, number: int, logprobs: list[Raw] | None = None) -> bytes:
        """A piece more, in JSON without its quotes."""
        if not logprobs:
            return self.deltas([text], number)
        self._pieces.append(text)
        self._logprobs += [Raw(bytes(one)) for one in logprobs]
        return b'%b"logprobs":%b,"sequence_number":%d,"delta":"%b"}\n\n' % (
            self._event,
            encode(logprobs),
            number,
            text,
        )

    def deltas(self, texts: list[bytes], number: int) -> bytes:
        """This runs for every token."""
        self._pieces += texts
        count = len(texts)
        end = number + count
        if end > NUMBERS_MAX:
            return b"".join([b'%b%d,"delta":"%b"}\n\n' % (self._head, at, one) for at, one in enumerate(texts, number)])
        if count == 1:
            return b"".join((self._head, NUMBERED[number], texts[0], DELTA_END))
        told = [self._between] * (3 * count + 1)
        told[0], told[1::3], told[2::3], told[-1] = self._head, NUMBERED[number:end], texts, DELTA_END
        return b"".join(told)

    def end(self, status: str) -> Events:
        return [*self._end_part(), self._done(self._item(status))]

    def _end_part(self) -> Events:
        if not self.part:
            return []
        where = self._where()
        whole = b'"%b"' % b"".join(self._pieces)
        part = self._part(_text_in(whole))
        done = b'%b,"%b":%b' % (where, b"refusal" if self.part == "refusal" else b"text", whole)
        if self.part == "output_text":
            done += b',"logprobs":%b' % encode(self._logprobs)
        events = [
            (f"response.{self.part}.done", done),
            ("response.content_part.done", b'%b,"part":%b' % (where, encode(part))),
        ]
        self._parts.append(part)
        self.part, self._pieces, self._logprobs = "", [], []
        return events

    def _where(self) -> bytes:
        return b'%b,"content_index":%d' % (self._at(), len(self._parts))

    def _part(self, text: str) -> Json:
        if self.part == "refusal":
            return refusal_part(text)
        return {"type": self.part, "text": text} if self.kind == "reasoning" else text_part(text, self._logprobs)

    def _item(self, status: str) -> Json:
        if self.kind == "message":
            return message_item(self._parts, item_id=self.id, status=status)
        thoughts = "".join(part["text"] for part in self._parts)
        return reasoning_item(thoughts, self._words, item_id=self.id, status=status)


class GrowingCall(GrowingItem):
    """A tool that the model wants called."""

    def __init__(self, call: SaidCall, place: int, words: ResponseWords) -> None:
        super().__init__("fc", place, words)
        self.index = call.index
        self._call_id = call.id or ""
        self._name = call.function.name or ""
        self._takes_text = self._name in words.custom_tools
        self._pieces: list[str] = []

    def begin(self) -> Events:
        return [self._added(self._item("", IN_PROGRESS))]

    def grow(self, arguments: str) -> Events:
        """A piece more; any text is told at once at its end, for until then it stands in JSON."""
        self._pieces.append(arguments)
        if self._takes_text:
            return []
        return [("response.function_call_arguments.delta", b'%b,"delta":%b' % (self._at(), encode(arguments)))]

    def end(self, status: str) -> Events:
        arguments, at = "".join(self._pieces), self._at()
        if self._takes_text:
            text = encode(custom_input(arguments)) if arguments else b'""'
            events = [
                ("response.custom_tool_call_input.delta", b'%b,"delta":%b' % (at, text)),
                ("response.custom_tool_call_input.done", b'%b,"input":%b' % (at, text)),
            ]
        else:
            _, name = self._words.namespaces.get(self._name, ("", self._name))
            done = b'%b,"name":%b,"arguments":%b' % (at, encode(name), encode(arguments))
            events = [("response.function_call_arguments.done", done)]
        return [*events, self._done(self._item(arguments, status))]

    def _item(self, arguments: str, status: str) -> Json:
        return call_item(self._call_id, self._name, arguments, self._words, item_id=self.id, status=status)


def _text_in(whole: bytes) -> str:
    """Pieces of it passed as the bytes that came, and were not read before; raises EngineGarbage."""
    try:
        return _decode_text(whole)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EngineGarbage("The engine sent an event that is not JSON.") from error
