"""`chat` against a small real HTTP server, and the conversation with a reader passed in."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from heterodyne.cli.chat.chat_session import ChatSession, converse
from heterodyne.cli.chat.openai_client import OpenAIClient

DONE = "data: [DONE]\n\n"


def event(text: str) -> str:
    return f"data: {json.dumps({'choices': [{'delta': {'content': text}}]})}\n\n"


class Gateway(ThreadingHTTPServer):
    """Answers with what the test put on it and remembers what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.models: list[dict[str, str]] = [{"id": "embedder", "purpose": "embed"}, {"id": "talker"}]
        self.events = [": hello\n\n", event("Hel"), event("lo"), DONE]
        self.refusal: tuple[int, str] | None = None
        self.asked: list[dict] = []
        self.keys: list[str | None] = []
        self.hold = threading.Event()  # set: a stream stays open after its events until the client leaves
        self.left = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Gateway

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.server.keys.append(self.headers["authorization"])
        self.answer(200, json.dumps({"data": self.server.models}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        self.server.keys.append(self.headers["authorization"])
        if self.server.refusal is not None:
            self.answer(*self.server.refusal)
        elif not body.get("stream"):
            self.answer(200, '{"choices": [{"message": {"content": "whole"}}]}')
        else:
            self.stream()

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def stream(self) -> None:
        self.send_response(200)
        self.end_headers()
        for text in self.server.events:
            self.wfile.write(text.encode())
            self.wfile.flush()
        if self.server.hold.is_set() and self.connection.recv(1) == b"":
            self.server.left.set()


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_prompt_is_answered_by_the_first_model_that_can_chat(run, gateway: Gateway) -> None:
    result = run("chat", "--url", gateway.url, "Say", "hello")
    assert (result.exit_code, result.stdout) == (0, "Hello\n")
    (body,) = gateway.asked
    assert body == {"model": "talker", "messages": [{"role": "user", "content": "Say hello"}], "stream": True}


def test_options_travel_in_the_request(run, gateway: Gateway) -> None:
    options = ("--model", "m", "--system", "Be brief.", "--max-tokens", "5", "--temperature", "0")
    run("chat", "--url", gateway.url, *options, "--api-key", "k", "Hi")
    (body,) = gateway.asked
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m", 5, 0)
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert gateway.keys == ["Bearer k"]


def test_the_key_comes_from_the_environment(run, gateway: Gateway) -> None:
    run("chat", "--url", gateway.url, "Hi", env={"HETERODYNE_API_KEY": "from-env"})
    assert gateway.keys == ["Bearer from-env"] * 2


def test_the_address_comes_from_the_settings(run, gateway: Gateway) -> None:
    port = gateway.server_address[1]
    assert run("--set", f"gateway.port={port}", "chat", "Hi").stdout == "Hello\n"


def test_with_a_url_the_settings_are_not_read(run, gateway: Gateway) -> None:
    assert run("--set", "gateway.nonsense=1", "chat", "--url", f"{gateway.url}/v1/", "Hi").exit_code == 0


def test_piped_text_is_the_prompt(run, gateway: Gateway) -> None:
    run("chat", "--url", gateway.url, input="What is this?\n")
    run("chat", "--url", gateway.url, "Summarise:", "-", input="long text\n")
    contents = [body["messages"][0]["content"] for body in gateway.asked]
    assert contents == ["What is this?", "Summarise: long text"]


def test_an_empty_prompt_is_wrong_usage(run) -> None:
    assert run("chat", input="").exit_code == 2


def test_json_prints_the_whole_answer(run, gateway: Gateway) -> None:
    result = run("chat", "--url", gateway.url, "--json", "Hi")
    assert json.loads(result.stdout)["choices"][0]["message"]["content"] == "whole"
    assert "stream" not in gateway.asked[0]


def test_no_gateway_is_told_with_how_to_start_one(run) -> None:
    result = run("chat", "--url", "http://127.0.0.1:9", "Hi")
    assert result.exit_code == 1
    assert result.stderr == (
        "heterodyne: no gateway answers at http://127.0.0.1:9; "
        "start one with `heterodyne serve`, or name another with --url\n"
    )


@pytest.mark.parametrize("url", ["ftp://h", "http://h:x", "http://"])
def test_an_address_that_is_no_url_is_told(run, url: str) -> None:
    result = run("chat", "--url", url, "Hi")
    assert result.exit_code == 1
    assert "is not a URL" in result.stderr


def test_the_gateways_own_words_are_shown(run, gateway: Gateway) -> None:
    gateway.refusal = (401, '{"error": {"message": "no such key", "code": "invalid_api_key"}}')
    result = run("chat", "--url", gateway.url, "Hi")
    assert (result.exit_code, result.stderr) == (1, f"heterodyne: {gateway.url} answered 401: no such key\n")


def test_an_error_page_of_something_else_is_not_repeated(run, gateway: Gateway) -> None:
    gateway.refusal = (502, "<html>nginx</html>")
    result = run("chat", "--url", gateway.url, "Hi")
    assert "is this an OpenAI-compatible gateway?" in result.stderr


def test_an_error_in_the_middle_of_a_stream_is_told_after_what_came(run, gateway: Gateway) -> None:
    gateway.events = [event("Hel"), 'data: {"error": {"message": "the replica fell silent"}}\n\n', DONE]
    result = run("chat", "--url", gateway.url, "Hi")
    assert (result.exit_code, result.stdout) == (1, "Hel\n")
    assert result.stderr == "heterodyne: the answer was cut short: the replica fell silent\n"


def test_a_stream_without_its_end_is_told(run, gateway: Gateway) -> None:
    gateway.events = [event("Hel")]
    result = run("chat", "--url", gateway.url, "Hi")
    assert result.exit_code == 1
    assert "cut short" in result.stderr


def test_a_stream_of_something_else_is_told(run, gateway: Gateway) -> None:
    gateway.events = ["data: nonsense\n\n"]
    result = run("chat", "--url", gateway.url, "Hi")
    assert result.exit_code == 1
    assert "not of the OpenAI API" in result.stderr


def test_control_characters_of_a_model_do_not_reach_the_terminal(run, gateway: Gateway) -> None:
    gateway.events = [event("a\x1b]0;title\x07b\tc\n"), DONE]
    assert run("chat", "--url", gateway.url, "Hi").stdout == "a]0;titleb\tc\n\n"


def test_an_interrupt_closes_the_connection(gateway: Gateway) -> None:
    gateway.hold.set()
    gateway.events = [event("Hel")]

    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    session = ChatSession(OpenAIClient(gateway.url, None, 10.0), "m")
    with pytest.raises(KeyboardInterrupt):
        session.send("Hi", interrupted)
    assert gateway.left.wait(10)
    assert [message.content for message in session.history] == ["Hi", "Hel"]


class Script:
    """Lines a person would type, and what they would read."""

    def __init__(self, *lines: str | BaseException) -> None:
        self.lines = list(lines)
        self.answers = ""
        self.talk: list[str] = []

    def read(self) -> str:
        line = self.lines.pop(0) if self.lines else EOFError()
        if isinstance(line, BaseException):
            raise line
        return line

    def write(self, text: str) -> None:
        self.answers += text

    def run(self, session: ChatSession) -> None:
        converse(session, self.read, self.write, self.talk.append)


def test_a_conversation_remembers_until_it_is_reset(gateway: Gateway) -> None:
    script = Script("one", "two", "", "/nope", "/reset", "three", "/exit", "never")
    script.run(ChatSession(OpenAIClient(gateway.url, None, 10.0), "m", system="Be kind."))
    said = [[message["content"] for message in body["messages"]] for body in gateway.asked]
    assert said == [
        ["Be kind.", "one"],
        ["Be kind.", "one", "Hello", "two"],
        ["Be kind.", "three"],
    ]
    assert script.answers == "Hello\n" * 3
    assert any("/nope is not a command" in line for line in script.talk)


def test_a_failed_turn_is_told_and_forgotten(gateway: Gateway) -> None:
    gateway.refusal = (503, '{"error": {"message": "full"}}')
    script = Script("one")
    session = ChatSession(OpenAIClient(gateway.url, None, 10.0), "m")
    script.run(session)
    assert script.talk[-1].endswith("answered 503: full")
    assert session.history == ()


def test_an_interrupt_stops_one_answer_and_not_the_conversation() -> None:
    class Interrupted(OpenAIClient):
        def stream(self, body):
            yield "He"
            raise KeyboardInterrupt

    script = Script("one", "/exit")
    script.run(ChatSession(Interrupted("http://h", None, 1.0), "m"))
    assert script.talk[-1] == "(stopped)"


def test_an_interrupt_at_the_prompt_ends_the_conversation() -> None:
    script = Script(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        script.run(ChatSession(OpenAIClient("http://h", None, 1.0), "m"))
