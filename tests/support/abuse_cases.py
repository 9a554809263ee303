"""What a stranger or a fool may send, and what is safe to answer.

Each case is made for a port, so that both are sent the same. Bytes that leave it in doubt where a request ends are
refused with 400; sizes with 413 and 431; whatever the answer, the next client is served.
"""

from collections.abc import Callable
from typing import NamedTuple

from tests.support.both_ports import BODY_BYTES_MAX, Port

Made = bytes | list[bytes]

CLOSED = 0  # no answer: the connection is closed
BAD = frozenset((400,))
LARGE_HEAD = frozenset((431,))
LARGE_BODY = frozenset((413,))
FINE = frozenset((200,))
NO_PATH = frozenset((404,))
REFUSED = frozenset((400, 401, 404, 405, 413, 415, 421, 422, 431))
UNDERSTOOD = REFUSED | {200, 429}  # a body within all limits: the application's own matter, and never our failure


class Case(NamedTuple):
    """Something to send, and the statuses of which the first answer has to have one."""

    name: str
    make: Callable[[Port], Made]
    safe: frozenset[int]


def _body(name: str, body: bytes, safe: frozenset[int] = UNDERSTOOD, *headers: str) -> Case:
    return Case(f"body: {name}", lambda port: port.post(body, *headers), safe)


def _head(name: str, *headers: str, safe: frozenset[int] = BAD, body: bytes = b"{}") -> Case:
    return Case(name, lambda port: port.head(*headers) + body, safe)


def _chunks(name: str, chunks: bytes, safe: frozenset[int] = BAD) -> Case:
    return Case(f"chunks: {name}", lambda port: port.chunked(chunks), safe)


def _coding(name: str, line: bytes) -> Case:
    def make(port: Port) -> bytes:
        return port.head().removesuffix(b"\r\n") + line + b"\r\n\r\n2\r\n{}\r\n0\r\n\r\n"

    return Case(f"coding: {name}", make, BAD)


def _first_line(name: str, line: bytes, safe: frozenset[int]) -> Case:
    return Case(f"line: {name}", lambda port: line + b"\r\nhost: localhost\r\n\r\n", safe)


def _hidden(name: str, *headers: str, body: bytes) -> Case:
    """A second request in what one reader takes for a body and another does not."""
    return Case(f"smuggling: {name}", lambda port: port.head(*headers) + body + port.get(), BAD)


HIDDEN_GET = b"GET /hidden HTTP/1.1\r\nhost: localhost\r\n\r\n"

LINES = [
    _first_line("nothing but a method", b"GET", REFUSED),
    _first_line("HTTP/0.9", b"GET /", BAD),
    _first_line("HTTP/2.0", b"GET / HTTP/2.0", BAD),
    _first_line("HTTP/3.7", b"GET / HTTP/3.7", BAD),
    _first_line("HTTP/1.2", b"GET / HTTP/1.2", BAD),
    _first_line("no number of a version", b"GET / HTTP/x.y", BAD),
    _first_line("another protocol", b"GET / ICY/1.0", BAD),
    _first_line("RTSP", b"DESCRIBE rtsp://localhost/ RTSP/1.0", REFUSED),
    _first_line("a method nobody knows", b"BREW / HTTP/1.1", frozenset((405,))),
    _first_line("a method in small letters", b"get / HTTP/1.1", frozenset((405,))),
    _first_line("a huge method", b"G" * 70_000 + b" / HTTP/1.1", frozenset((405, 431))),
    _first_line("a huge path", b"GET /" + b"x" * 70_000 + b" HTTP/1.1", LARGE_HEAD),
    _first_line("a huge query", b"GET /health?" + b"x" * 70_000 + b" HTTP/1.1", LARGE_HEAD),
    _first_line("spaces in the path", b"GET /a b c HTTP/1.1", BAD),
    _first_line("two spaces", b"GET  / HTTP/1.1", REFUSED | FINE),
    _first_line("a tab", b"GET\t/ HTTP/1.1", REFUSED),
    _first_line("a NUL in the path", b"GET /\x00 HTTP/1.1", REFUSED),
    _first_line("bytes that are not text", b"GET /\xff\xfe HTTP/1.1", REFUSED),
    _first_line("no path", b"GET HTTP/1.1", BAD),
    _first_line("a path of a Windows share", b"GET \\\\evil\\share HTTP/1.1", REFUSED),
    _first_line("an absolute form", b"GET http://evil/health HTTP/1.1", NO_PATH),
    _first_line("an absolute form of ours", b"GET http://localhost/admin/fleet HTTP/1.1", NO_PATH),
    _first_line("a fragment", b"GET /health#x HTTP/1.1", REFUSED),
    _first_line("traversal", b"GET /../../etc/passwd HTTP/1.1", NO_PATH),
    _first_line("traversal in static files", b"GET /static/../../../etc/passwd HTTP/1.1", NO_PATH),
    _first_line("encoded traversal", b"GET /static/%2e%2e%2f%2e%2e%2fetc/passwd HTTP/1.1", NO_PATH),
    _first_line("encoded traversal, twice", b"GET /static/%252e%252e/passwd HTTP/1.1", NO_PATH),
    _first_line("an encoded NUL", b"GET /static/%00 HTTP/1.1", NO_PATH),
    _first_line("half an encoding", b"GET /%2 HTTP/1.1", NO_PATH),
    _first_line("bytes that are no UTF-8, encoded", b"GET /%ff%fe HTTP/1.1", NO_PATH),
    _first_line("a path of two slashes", b"GET //health HTTP/1.1", NO_PATH),
    _first_line("OPTIONS of everything", b"OPTIONS * HTTP/1.1", REFUSED),
    _first_line("TRACE", b"TRACE / HTTP/1.1", REFUSED),
    _first_line("a tunnel", b"CONNECT evil:443 HTTP/1.1", BAD),
    _first_line("a line feed in the path", b"GET /\nHost: evil HTTP/1.1", BAD),
    Case("line: DELETE of a page", lambda port: port.get(method="DELETE"), frozenset((404, 405))),
    Case("line: POST to a page", lambda port: port.get(method="POST"), frozenset((404, 405))),
    Case("line: HEAD of a page", lambda port: port.get(method="HEAD"), FINE),
    Case("line: PRI of HTTP/2", lambda _: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00" * 50, REFUSED),
    Case("line: a TLS hello", lambda _: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), REFUSED),
    Case("line: an SSH hello", lambda _: b"SSH-2.0-OpenSSH_9.2\r\n", REFUSED),
    Case("line: a proxy's hello", lambda _: b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", REFUSED),
    Case("line: SOCKS", lambda _: b"\x05\x01\x00" + bytes(100), REFUSED),
    Case("line: a megabyte of nothing", lambda _: [b"\x00" * 65536] * 16, REFUSED),
    Case("line: a megabyte of letters", lambda _: [b"A" * 65536] * 16, REFUSED),
    Case("line: empty lines first", lambda port: b"\r\n\r\n\r\n" + port.get(), FINE),
    Case("line: a million empty lines", lambda port: [b"\r\n" * 32768] * 31 + [port.get()], FINE | {431}),
]

HEADS = [
    Case("head: bare line feeds", lambda port: port.get().replace(b"\r\n", b"\n"), BAD),
    Case("head: bare carriage returns", lambda port: port.get().replace(b"\r\n", b"\r"), BAD),
    Case("head: a carriage return in a value", lambda port: port.get("x: a\rb"), BAD),
    Case("head: a NUL in a value", lambda port: port.get("x: a\x00b"), BAD),
    Case("head: a NUL in a name", lambda port: port.get("x\x00y: a"), BAD),
    Case("head: a folded line", lambda port: port.get("x: a", " b"), BAD),
    Case("head: a folded line at first", lambda port: port.get().replace(b"host:", b" host:", 1), BAD),
    Case("head: a space before the colon", lambda port: port.get("x : a"), BAD),
    Case("head: no colon", lambda port: port.get("xyz"), BAD),
    Case("head: no name", lambda port: port.get(": x"), BAD),
    Case("head: a name with a parenthesis", lambda port: port.get("x(y): a"), BAD),
    Case("head: a huge name", lambda port: port.get("x" * 70_000 + ": y"), LARGE_HEAD),
    Case("head: a huge value", lambda port: port.get("x: " + "y" * 70_000), LARGE_HEAD),
    Case("head: an endless value", lambda port: [port.get()[:-2] + b"x: ", *[b"y" * 4096] * 500], LARGE_HEAD),
    Case("head: an endless name", lambda port: [port.get()[:-2], *[b"y" * 4096] * 500], LARGE_HEAD),
    Case("head: ten thousand headers", lambda port: port.get(*(f"x-{n}: y" for n in range(10_000))), LARGE_HEAD),
    Case("head: ten thousand equal headers", lambda port: port.get(*["x: y"] * 10_000), LARGE_HEAD),
    Case("head: headers without an end", lambda port: [port.get()[:-2], *[b"x: y\r\n" * 5000] * 20], LARGE_HEAD),
    Case("head: as many as there may be", lambda port: port.get(*(f"x-{n}: y" for n in range(99))), FINE),
    Case("head: byte by byte", lambda port: [bytes((byte,)) for byte in port.get()], FINE),
    Case("host: none", lambda port: port.get().replace(b"host: localhost\r\n", b""), BAD),
    Case("host: none, of an old client", lambda port: f"GET {port.page} HTTP/1.0\r\n\r\n".encode(), FINE),
    Case("host: two", lambda port: port.get("host: localhost"), BAD),
    Case("host: two that differ", lambda port: port.get("Host: evil"), BAD),
    Case("host: two in one", lambda port: port.get().replace(b"localhost", b"localhost, evil"), BAD),
    Case("host: with a path", lambda port: port.get().replace(b"localhost", b"localhost/evil"), BAD),
    Case("host: with a user", lambda port: port.get().replace(b"localhost", b"localhost@evil"), BAD),
    Case("host: with a space", lambda port: port.get().replace(b"localhost", b"local host"), BAD),
    Case("host: of bytes", lambda port: port.get().replace(b"localhost", b"\xff\xfe"), BAD),
    Case("host: empty", lambda port: port.get().replace(b"localhost", b""), FINE),
    _head("two keys", "authorization: Bearer other", "content-length: 2"),
    _head("two media types", "content-type: text/plain", "content-length: 2"),
    Case("upgrade: h2c", lambda port: port.get("connection: upgrade, http2-settings", "upgrade: h2c"), FINE),
    Case("upgrade: websocket", lambda port: port.get("connection: upgrade", "upgrade: websocket"), FINE),
    Case("upgrade: without a connection", lambda port: port.get("upgrade: h2c"), FINE),
    Case("upgrade: with a body", lambda port: port.post(None, "connection: upgrade", "upgrade: h2c"), UNDERSTOOD),
    Case(
        "upgrade: to hide a request",
        lambda port: port.head("connection: upgrade", "upgrade: x", f"content-length: {len(HIDDEN_GET)}") + HIDDEN_GET,
        frozenset((400,)),
    ),
    Case("upgrade: many at once", lambda port: port.get("connection: upgrade", "upgrade: h2c") * 2000, FINE),
    Case("expect: something else", lambda port: port.post(None, "expect: 200-maybe"), UNDERSTOOD),
    Case("expect: twice", lambda port: port.post(None, "expect: 100-continue", "expect: 100-continue"), BAD),
    Case("connection: close and keep-alive", lambda port: port.get("connection: close, keep-alive"), FINE),
    Case("connection: names the host", lambda port: port.get("connection: host"), FINE),
]

LENGTHS = [
    _head("length: negative", "content-length: -2"),
    _head("length: with a plus", "content-length: +2"),
    _head("length: hexadecimal", "content-length: 0x2"),
    _head("length: a fraction", "content-length: 2.0"),
    _head("length: a word", "content-length: two"),
    _head("length: empty", "content-length: "),
    _head("length: a space inside", "content-length: 2 2"),
    _head("length: a list", "content-length: 2, 2"),
    _head("length: twice", "content-length: 2", "content-length: 2"),
    _head("length: twice, and different", "content-length: 2", "content-length: 20"),
    _head("length: beyond 64 bits", "content-length: 18446744073709551618"),
    _head("length: of many digits", "content-length: " + "9" * 5000),
    _head("length: of many zeros", "content-length: " + "0" * 5000 + "2"),
    _head("length: other digits", "content-length: ²"),
    _head("length: too large", f"content-length: {BODY_BYTES_MAX + 1}", safe=LARGE_BODY),
    _head("length: much too large", "content-length: 9223372036854775807", safe=LARGE_BODY),
    _head("length: none, and a body", safe=REFUSED),
    Case(
        "length: too large, and all of it sent",
        lambda port: [port.head(f"content-length: {4 * BODY_BYTES_MAX}"), *[b" " * 65536] * 64],
        LARGE_BODY,
    ),
]

CODINGS = [
    _coding("a tab before it", b"transfer-encoding:\tchunked"),
    _coding("a space and a tab", b"Transfer-Encoding: \tchunked"),
    _coding("a vertical tab", b"transfer-encoding: \x0bchunked"),
    _coding("a form feed", b"transfer-encoding: \x0cchunked"),
    _coding("a tab after it", b"transfer-encoding: chunked\t"),
    _coding("a space before the colon", b"transfer-encoding : chunked"),
    _coding("a folded line", b"transfer-encoding:\r\n chunked"),
    _coding("gzip first", b"transfer-encoding: gzip, chunked"),
    _coding("gzip last", b"transfer-encoding: chunked, gzip"),
    _coding("gzip alone", b"transfer-encoding: gzip"),
    _coding("identity", b"transfer-encoding: identity"),
    _coding("a word that ends so", b"transfer-encoding: xchunked"),
    _coding("a word that begins so", b"transfer-encoding: chunkedx"),
    _coding("with a parameter", b"transfer-encoding: chunked;q=1"),
    _coding("in quotes", b'transfer-encoding: "chunked"'),
    _coding("an empty one first", b"transfer-encoding: ,chunked"),
    _coding("an empty one last", b"transfer-encoding: chunked,"),
    _coding("empty", b"transfer-encoding: "),
    _coding("twice", b"transfer-encoding: chunked\r\ntransfer-encoding: chunked"),
    _coding("twice, gzip first", b"transfer-encoding: gzip\r\ntransfer-encoding: chunked"),
    _coding("twice in one", b"transfer-encoding: chunked, chunked"),
    _coding("with a length", b"transfer-encoding: chunked\r\ncontent-length: 2"),
    _coding("after a length", b"content-length: 2\r\ntransfer-encoding: chunked"),
    _coding("with an underscore and a length of nothing", b"transfer_encoding: chunked\r\ncontent-length: x"),
    Case(
        "coding: of an old client",
        lambda port: port.head("transfer-encoding: chunked", version="1.0") + b"2\r\n{}\r\n0\r\n\r\n",
        BAD,
    ),
]

CHUNKS = [
    _chunks("a size that is no number", b"zz\r\n{}\r\n0\r\n\r\n"),
    _chunks("a negative size", b"-2\r\n{}\r\n0\r\n\r\n"),
    _chunks("a size with a plus", b"+2\r\n{}\r\n0\r\n\r\n"),
    _chunks("a size with 0x", b"0x2\r\n{}\r\n0\r\n\r\n"),
    _chunks("an empty size", b"\r\n{}\r\n0\r\n\r\n"),
    _chunks("a space before the size", b" 2\r\n{}\r\n0\r\n\r\n"),
    _chunks("a space after the size", b"2 \r\n{}\r\n0\r\n\r\n"),
    _chunks("a size beyond 64 bits", b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    _chunks("a size of many digits", b"f" * 5000 + b"\r\n{}\r\n0\r\n\r\n"),
    _chunks("a size of many zeros", b"0" * 5000 + b"2\r\n{}\r\n0\r\n\r\n", UNDERSTOOD),
    _chunks("longer than its size", b"2\r\n{}}\r\n0\r\n\r\n"),
    _chunks("shorter than its size", b"4\r\n{}\r\n0\r\n\r\n"),
    _chunks("bare line feeds", b"2\n{}\n0\n\n"),
    _chunks("no line after the chunk", b"2\r\n{}0\r\n\r\n"),
    _chunks("a carriage return in an extension", b"2;a=\rb\r\n{}\r\n0\r\n\r\n"),
    _chunks("an unclosed quote in an extension", b'2;a="b\r\n{}\r\n0\r\n\r\n'),
    _chunks("an extension", b"2;a=b\r\n{}\r\n0;c\r\n\r\n", UNDERSTOOD),
    _chunks("nothing", b"0\r\n\r\n", UNDERSTOOD),
    _chunks("a thousand of one byte", b"1\r\n \r\n" * 1000 + b"0\r\n\r\n", UNDERSTOOD),
    _chunks("together too large", (b"10000\r\n" + b" " * 65536 + b"\r\n") * 17, LARGE_BODY),
    Case(
        "chunks: two hundred thousand of two bytes",
        lambda port: [port.head("transfer-encoding: chunked"), *[b"2\r\n  \r\n" * 8192] * 25, b"0\r\n\r\n"],
        UNDERSTOOD | {408},
    ),
    Case(
        "chunks: a flood of extensions",
        lambda port: [port.head("transfer-encoding: chunked") + b"1;x=", *[b"y" * 4096] * 500],
        LARGE_HEAD,
    ),
    Case(
        "chunks: many large extensions",
        lambda port: [port.head("transfer-encoding: chunked"), *[b"1;" + b"y" * 30_000 + b"\r\n \r\n"] * 50],
        LARGE_HEAD,
    ),
    Case(
        "chunks: more and more",
        lambda port: [port.head("transfer-encoding: chunked"), *[b"10000\r\n" + b" " * 65536 + b"\r\n"] * 64],
        LARGE_BODY,
    ),
]

LAST = b"2\r\n{}\r\n0\r\n"
TRAILERS = [
    _chunks("a trailer", LAST + b"x: y\r\n\r\n", UNDERSTOOD),
    _chunks("a trailer Host", LAST + b"host: evil\r\n\r\n", UNDERSTOOD),
    _chunks("a trailer Content-Type", LAST + b"content-type: text/plain\r\n\r\n", UNDERSTOOD),
    _chunks("a trailer Authorization", LAST + b"authorization: Bearer x\r\n\r\n", UNDERSTOOD),
    _chunks("a trailer Content-Length", LAST + b"content-length: 7\r\n\r\n", UNDERSTOOD),
    _chunks("a trailer Transfer-Encoding", LAST + b"transfer-encoding: gzip\r\n\r\n", UNDERSTOOD),
    _chunks("a trailer without a colon", LAST + b"x\r\n\r\n"),
    _chunks("a folded trailer", LAST + b"x: y\r\n z\r\n\r\n"),
    _chunks("a NUL in a trailer", LAST + b"x: \x00\r\n\r\n"),
    _chunks("a huge trailer", LAST + b"x: " + b"y" * 70_000 + b"\r\n\r\n", LARGE_HEAD),
    _chunks("ten thousand trailers", LAST + b"".join(b"x-%d: y\r\n" % n for n in range(10_000)), LARGE_HEAD),
    _chunks("ten thousand equal trailers", LAST + b"x: y\r\n" * 10_000, LARGE_HEAD),
    Case(
        "chunks: an endless trailer",
        lambda port: [port.chunked(LAST) + b"x: ", *[b"y" * 16384] * 500],
        LARGE_HEAD,
    ),
]

SMUGGLING = [
    _hidden("length before chunks", "content-length: 4", "transfer-encoding: chunked", body=b"1\r\nZ\r\n0\r\n\r\n"),
    _hidden("chunks before length", "transfer-encoding: chunked", "content-length: 60", body=b"0\r\n\r\n" + HIDDEN_GET),
    _hidden("two lengths", "content-length: 0", f"content-length: {len(HIDDEN_GET)}", body=HIDDEN_GET),
    _hidden("a length that is hidden", "content-length: 0", "content-length : 50", body=HIDDEN_GET),
    _hidden("a coding in capitals with a tab", "Transfer-Encoding:\tChUnKeD", body=b"0\r\n\r\n" + HIDDEN_GET),
    _hidden("a coding after a bare line feed", "x: y\ntransfer-encoding: chunked", body=b"0\r\n\r\n" + HIDDEN_GET),
    _hidden("a coding in a folded line", "x: y\r\n transfer-encoding: chunked", body=b"0\r\n\r\n" + HIDDEN_GET),
    _hidden("a length after a bare carriage return", "x: y\rcontent-length: 50", body=HIDDEN_GET),
    _hidden("a list of lengths", f"content-length: 0, {len(HIDDEN_GET)}", body=HIDDEN_GET),
    _hidden("a chunk that is too long", "transfer-encoding: chunked", body=b"1\r\nZZ\r\n0\r\n\r\n" + HIDDEN_GET),
    _hidden("an end without its line", "transfer-encoding: chunked", body=b"0\r\n" + HIDDEN_GET + b"0\r\nx\r\n"),
    Case(
        "smuggling: a page with a body", lambda port: port.get(f"content-length: {len(HIDDEN_GET)}") + HIDDEN_GET, FINE
    ),
]

BODIES = [
    _body("empty", b""),
    _body("spaces", b" " * 1000),
    _body("a NUL", b"\x00"),
    _body("half an object", b'{"model":'),
    _body("no JSON", b"hello"),
    _body("a form", b"model=scripted&messages=x"),
    _body("XML", b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>'),
    _body("an array", b"[]"),
    _body("null", b"null"),
    _body("a number", b"7"),
    _body("a string", b'"model"'),
    _body("true", b"true"),
    _body("two objects", b"{}{}"),
    _body("a comma too many", b'{"model":"scripted",}'),
    _body("a comment", b'{"model":"scripted" /* x */}'),
    _body("single quotes", b"{'model':'scripted'}"),
    _body("bytes that are no UTF-8", b'{"model":"\xff\xfe"}'),
    _body("half a character", b'{"model":"\xe2\x82"}'),
    _body("an overlong character", b'{"model":"\xc0\xaf"}'),
    _body("a lone surrogate", b'{"model":"\\ud800","messages":[{"role":"user","content":"\\udfff"}]}'),
    _body("a surrogate in bytes", b'{"model":"\xed\xa0\x80"}'),
    _body("a byte order mark", b"\xef\xbb\xbf{}"),
    _body("UTF-16", '{"model":"scripted"}'.encode("utf-16")),
    _body("a line feed in a string", b'{"model":"a\nb"}'),
    _body("a NUL in a string", b'{"model":"a\\u0000b"}'),
    _body("deep arrays", b'{"model":' + b"[" * 100_000),
    _body("deep arrays that close", b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}"),
    _body("deep objects", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    _body("deep content", b'{"model":"scripted","messages":' + b"[" * 5000 + b"]" * 5000 + b"}"),
    _body("the same key twice", b'{"model":"scripted","model":"other","messages":[]}'),
    _body("the same key often", b"{" + b'"model":"scripted",' * 10_000 + b'"messages":[]}'),
    _body("many keys", b"{" + b",".join(b'"k%d":1' % n for n in range(20_000)) + b"}"),
    _body("an empty key", b'{"":1}'),
    _body("a huge key", b'{"' + b"k" * 500_000 + b'":1}'),
    _body("a huge model", b'{"model":"' + b"m" * 500_000 + b'","messages":[{"role":"user","content":"hi"}]}'),
    _body("a huge string", b'{"model":"scripted","messages":[{"role":"user","content":"' + b"x" * 500_000 + b'"}]}'),
    _body("a string of escapes", b'{"model":"' + b"\\u0041" * 80_000 + b'"}'),
    _body("a huge whole number", b'{"model":"scripted","messages":[],"max_tokens":' + b"9" * 5000 + b"}"),
    _body("a number beyond floats", b'{"model":"scripted","messages":[],"temperature":1e999}'),
    _body("a tiny number", b'{"model":"scripted","messages":[],"temperature":1e-999}'),
    _body("a long fraction", b'{"model":"scripted","temperature":0.' + b"1" * 50_000 + b"}"),
    _body("NaN", b'{"model":"scripted","messages":[],"temperature":NaN}'),
    _body("Infinity", b'{"model":"scripted","messages":[],"temperature":Infinity}'),
    _body("minus Infinity", b'{"model":"scripted","messages":[],"max_tokens":-Infinity}'),
    _body("a number that begins with zero", b'{"max_tokens":007}'),
    _body("a negative number of tokens", b'{"model":"scripted","messages":[],"max_tokens":-1}'),
    _body("a prototype", b'{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}'),
    _body("many messages", b'{"model":"scripted","messages":[' + b'{"role":"user","content":"x"},' * 5000 + b"{}]}"),
    _body("numbers for messages", b'{"model":"scripted","messages":[1,2,3]}'),
    _body("null everywhere", b'{"model":null,"messages":null,"max_tokens":null,"stream":null}'),
    _body("objects everywhere", b'{"model":{},"messages":{},"max_tokens":{},"stream":{}}'),
    _body("compressed", b"\x1f\x8b\x08\x00" + bytes(100), frozenset((400, 415)), "content-encoding: gzip"),
    _body("of a coding nobody knows", b"{}", UNDERSTOOD, "content-encoding: zstd, br"),
    Case(
        "body: of no media type",
        lambda port: port.post(b"{}").replace(b"content-type: application/json\r\n", b""),
        frozenset((415,)),
    ),
    Case(
        "body: of another media type",
        lambda port: port.post(b"{}").replace(b"application/json", b"text/plain"),
        frozenset((415,)),
    ),
    Case(
        "body: of a form",
        lambda port: port.post(b"a=b").replace(b"application/json", b"application/x-www-form-urlencoded"),
        frozenset((415,)),
    ),
    Case(
        "body: of parts",
        lambda port: port.post(b"--x\r\n").replace(b"application/json", b"multipart/form-data; boundary=x"),
        frozenset((415,)),
    ),
    Case(
        "body: of a media type of its own",
        lambda port: port.post(b"{}").replace(b"application/json", b"application/json; charset=utf-7"),
        UNDERSTOOD,
    ),
    Case("body: of a stranger", lambda port: port.post().replace(b"Bearer operator", b"Bearer x"), frozenset((401,))),
    Case("body: of nobody", lambda port: port.post().replace(b"authorization: Bearer operator\r\n", b""), REFUSED),
    Case("body: a key of another kind", lambda port: port.post().replace(b"Bearer operator", b"Basic eDp5"), REFUSED),
    Case("body: a huge bearer", lambda port: port.post().replace(b"operator", b"x" * 20_000), frozenset((401,))),
]

CASES = [*LINES, *HEADS, *LENGTHS, *CODINGS, *CHUNKS, *TRAILERS, *SMUGGLING, *BODIES]

# The first answer of these comes when patience ends, or none does.
SLOW_CASES = [
    Case("silence", lambda _: [], frozenset((CLOSED,))),
    Case("one byte", lambda _: b"G", frozenset((408,))),
    Case("half a head", lambda port: port.get()[:-2], frozenset((408,))),
    Case("a header now and then", lambda port: [port.get()[:-2], *[b"x: y\r\n"] * 30], frozenset((408, 431))),
    Case("half a body", lambda port: port.post()[:-1], frozenset((408,))),
    Case("no body at all", lambda port: port.head("content-length: 10"), frozenset((408,))),
    Case("a body byte by byte", lambda port: [port.head("content-length: 100"), *[b" "] * 30], frozenset((408,))),
    Case("chunks without an end", lambda port: port.chunked(b"2\r\n{}\r\n"), frozenset((408,))),
    Case("half a chunk", lambda port: port.chunked(b"ff\r\n{}"), frozenset((408,))),
    Case("an end without its line", lambda port: port.chunked(b"2\r\n{}\r\n0\r\n"), frozenset((408,))),
    Case("half a trailer", lambda port: port.chunked(LAST + b"x: y"), frozenset((408,))),
    Case("trailers now and then", lambda port: [port.chunked(LAST), *[b"x: y\r\n"] * 30], frozenset((408, 431))),
    Case(
        "a continue that is not taken up",
        lambda port: port.head("expect: 100-continue", "content-length: 9"),
        frozenset((100,)),
    ),
]
