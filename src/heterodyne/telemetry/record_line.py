"""One finished request as a line for people."""

from datetime import UTC, datetime

from heterodyne.domain.record import RequestRecord


def record_line(record: RequestRecord) -> str:
    """`02:24:09 200 chat smollm2-135m on chat-0: 36 + 20 tokens, first after 121 ms, 1.2 s in all`"""
    at = datetime.fromtimestamp(record.at, UTC).strftime("%H:%M:%S")
    asked = "" if record.model or not record.asked_model else repr(record.asked_model)
    what = " ".join(filter(None, (record.operation, record.model, asked)))
    where = f" on {record.replica}" if record.replica else ""
    facts = [record.reason] if record.reason else []
    if record.prompt_tokens or record.completion_tokens:
        about = "about " if record.is_estimated else ""
        facts.append(f"{about}{record.prompt_tokens} + {record.completion_tokens} tokens")
    if record.ttft_ms is not None and record.stream:
        facts.append(f"first after {_time(record.ttft_ms)}")
    if record.total_ms:
        facts.append(f"{_time(record.total_ms)} in all")
    return f"{at} {record.status} {what}{where}: {', '.join(facts)}"


def _time(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"
