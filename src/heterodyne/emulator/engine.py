"""The emulated engine: requests become jobs of the step machine, its steps become tokens of answers."""

import asyncio
import itertools
from collections.abc import Callable, Iterator

from heterodyne.domain.errors import ContextExceeded, EngineRefused, InvalidField, UnknownModel
from heterodyne.emulator import tokenizer
from heterodyne.emulator.adapters import EmulatedAdapters
from heterodyne.emulator.answer_format import ChatFormat, CompletionFormat
from heterodyne.emulator.faults import Faults, Poor, PoorHandOver, Share
from heterodyne.emulator.generation import Breakage, ExtraFields, Generation, Planned
from heterodyne.emulator.kv_exchange import KvExchange
from heterodyne.emulator.observations import Life, Observations
from heterodyne.emulator.order import EmulatorOrder
from heterodyne.emulator.replica_clock import ReplicaClock
from heterodyne.emulator.request_body import (
    EmulatorPrompt,
    EmulatorRequest,
    chat_prompt,
    completion_prompts,
    wanted_tokens,
)
from heterodyne.emulator.slots import EmulatedSlots
from heterodyne.physics.replica.from_layout import machine_of
from heterodyne.physics.replica.job import Job
from heterodyne.physics.replica.step import EngineStep, StepResult
from heterodyne.wire.server_connection import ServerConnection

Listener = Callable[[EngineStep, StepResult], None]
SLEEPERS = frozenset({"weights", "kv_cache"})
REFUSAL = (b" I'm", b" sorry,", b" but", b" I", b" can't", b" help", b" with", b" that.")
REPEATED_WORDS = 4


class EmulatedEngine:
    """One replica with its answers under way, its adapters and its faults."""

    def __init__(
        self,
        order: EmulatorOrder,
        *,
        loop: asyncio.AbstractEventLoop,
        wall_clock: Callable[[], float],
        on_crash: Callable[[], None],
    ) -> None:
        self.order = order
        self.observations = Observations()
        self.adapters = EmulatedAdapters(order.adapters_max, order.adapters)
        self.listeners: list[Listener] = []  # of steps, KV publishers for example
        self.clear_listeners: list[Callable[[], None]] = []  # of the cache being emptied
        self.kv_endpoint: str | None = None  # where KV events go out, once they do
        self.sleep_level = 0  # 0: awake, or only paused
        self.asleep: frozenset[str] = frozenset()  # parts that sleep: nothing runs until all are awake
        self.started_at_s = wall_clock()
        self._wall_clock = wall_clock
        self._on_crash = on_crash
        self._faults = Faults()
        self._refusing, self._garbling, self._worsening = Share(), Share(), Share()
        self._tokens_to_crash: int | None = None
        machine = machine_of(order.layout, order.found.profile, order.scheduling, speculation=order.speculation)
        self.clock = ReplicaClock(machine, self._on_step, loop=loop, speed=order.speed)
        self.machine = machine
        self.kv = KvExchange(order, machine, loop=loop, faults=lambda: self._faults)
        self.slots = EmulatedSlots(order, machine)
        self._answers: dict[int, tuple[Generation, int]] = {}  # by job: the answer, and which of its sequences
        self._left: dict[int, Planned] = {}  # cancelled since the last step, whose events may still name their blocks
        self._ids = itertools.count(1)

    @property
    def model_names(self) -> Iterator[str]:
        """Everything a client may ask for."""
        yield self.order.served_model
        yield from self.adapters

    @property
    def faults(self) -> Faults:
        """The switches as they stand."""
        return self._faults

    def set_faults(self, faults: Faults) -> None:
        """Turn switches; what they do to answers under way they do from here on."""
        self._faults = faults
        self.clock.slowdown = faults.slowdown
        self._tokens_to_crash = faults.crash_after_tokens
        self._hold_or_resume()

    @property
    def wall_s(self) -> float:
        """The time of day."""
        return self._wall_clock()

    def planned(self, job_id: int) -> Planned | None:
        """What a job will have written; as long as it is here, and until listeners have its last step."""
        answer = self._answers.get(job_id)
        return answer[0].planned[answer[1]] if answer is not None else self._left.get(job_id)

    def under_way(self) -> Iterator[tuple[Planned, Life]]:
        """Every sequence that runs or waits."""
        for job_id, (generation, index) in self._answers.items():
            yield generation.planned[index], self.observations.lives[job_id]

    def sleep(self, level: int, *, parts: frozenset[str] = SLEEPERS, aborts: bool = True) -> None:
        """Run nothing until `wake`; with `aborts`, requests under way end here with what they have."""
        self.sleep_level = level
        self.asleep |= parts
        if aborts:
            for generation in {id(one): one for one, _ in self._answers.values()}.values():
                self._cancelled(generation)
                generation.abort()
        self._hold_or_resume()
        if level:
            self.reset_cache()

    def wake(self, parts: frozenset[str] = SLEEPERS) -> None:
        """Wake these parts; with the last one it goes on."""
        self.asleep -= parts
        if not self.asleep:
            self.sleep_level = 0
        self._hold_or_resume()

    def reset_cache(self) -> bool:
        """Forget every cached block; not while a request holds one."""
        if self.machine.blocks.used:
            return False
        self.machine.blocks.clear()
        self.machine.blocks.removed.clear()  # listeners get one event for all of them
        for listener in self.clear_listeners:
            listener()
        return True

    def generate(
        self, body: EmulatorRequest, connection: ServerConnection, *, extra_fields: ExtraFields | None = None
    ) -> Generation | None:
        """Begin an answer. Raises what the client did wrong; None when the engine crashed over it."""
        faults = self._faults
        if body.model not in self.model_names:
            raise UnknownModel(f"The model `{body.model}` does not exist.", param="model")
        if body.lora_path is not None and body.lora_path not in self.adapters:
            raise InvalidField(f"The following requested LoRA adapters are not loaded: {body.lora_path}")
        if faults.refuse_status is not None and self._refusing.picks(faults.refuse_share):
            raise EngineRefused("The emulator was told to refuse.", status=faults.refuse_status)
        if (
            faults.hand_over is PoorHandOver.UNREAD
            and body.kv_transfer_params
            and body.kv_transfer_params.do_remote_prefill
        ):
            raise EngineRefused("The emulator was told not to read what others hand over.", status=500)
        if self._tokens_to_crash == 0:
            self._crash()
            return None
        is_chat = body.messages is not None
        prompts = [chat_prompt(body)] if is_chat else completion_prompts(body)
        planned = [self._plan(body, prompt) for prompt in prompts for _ in range(body.n)]
        shape = ChatFormat if is_chat else CompletionFormat
        created = int(self._wall_clock())
        generation = Generation(
            planned,
            shape(request_id=f"{planned[0].job.id:032x}", model=body.model, created=created, choices=len(planned)),
            connection,
            is_stream=body.stream,
            has_usage=body.stream_options is not None and body.stream_options.include_usage,
            arrived_at_s=self.clock.now_s,
            breakage=self._breakage(),
            on_cancelled=self._cancelled,
            extra_fields=extra_fields,
        )
        self.observations.answers.observe(body.n)
        for index, one in enumerate(planned):
            self._answers[one.job.id] = (generation, index)
        for one in planned:
            cached_tokens = self._cached_tokens(one.job)
            generation.cached_tokens += cached_tokens
            life = self.observations.arrive(
                one.job, generation.arrived_at_s, cached_tokens=cached_tokens, limit_tokens=one.limit_tokens
            )
            generation.lives.append(life)
            self._submit(one.job, generation, body)
        return generation

    def close(self) -> None:
        """Work on nothing any more."""
        self.kv.close()
        self.clock.close()

    def _submit(self, job: Job, generation: Generation, body: EmulatorRequest) -> None:
        """Begin with it now, or when its KV has come from the engine that computed it."""
        params = body.kv_transfer_params
        if params is None or not params.do_remote_prefill or not self.machine.try_reserve(job):
            self.clock.submit(job)
            return

        def arrived(tokens: int) -> None:
            generation.cached_tokens = max(generation.cached_tokens, min(tokens, job.prompt_tokens - 1))
            self.clock.arrive(job.id, tokens)

        self.kv.read(job, params, arrived)

    def _plan(self, body: EmulatorRequest, prompt: EmulatorPrompt) -> Planned:
        order = self.order
        prompt_tokens = tokenizer.count(prompt.text)
        room = min(order.context_tokens, order.scheduling.kv_tokens) - prompt_tokens
        asked = body.max_completion_tokens or body.max_tokens or 0
        if room < 1 or prompt_tokens + asked > order.context_tokens:
            raise ContextExceeded(
                f"This model's maximum context length is {order.context_tokens} tokens. However, you requested "
                f"{asked} output tokens and your prompt contains {prompt_tokens} input tokens.",
                param="messages" if body.messages is not None else "prompt",
            )
        tokens, is_cut = wanted_tokens(body, prompt, mean=order.output_tokens_mean, room=room)
        words = self._worsened(tokenizer.answer(prompt.key, prompt.continued_tokens, tokens))
        adapter = body.lora_path or (None if body.model == order.served_model else body.model)
        # An adapter's keys and values are its own, and so are those of another salt.
        salt = f"{adapter or body.model}\0{body.cache_salt}"
        blocks = tokenizer.block_hashes(prompt.text + b"".join(words), order.scheduling.block_tokens, salt)
        keeps_kv = body.kv_transfer_params is not None and body.kv_transfer_params.do_remote_decode and tokens == 1
        job = Job(
            id=next(self._ids),
            prompt_tokens=prompt_tokens,
            output_tokens=tokens,
            blocks=blocks,
            keeps_kv=keeps_kv,
        )
        return Planned(
            job=job,
            text=prompt.text,
            tokens=words,
            is_cut=is_cut,
            limit_tokens=min(asked or room, room),
            adapter=adapter,
            salt=body.cache_salt,
            slot=body.id_slot,
        )

    def _cached_tokens(self, job: Job) -> int:
        size = self.order.scheduling.block_tokens
        return self.machine.blocks.known(job.blocks[: (job.prompt_tokens - 1) // size]) * size

    def _worsened(self, words: list[bytes]) -> list[bytes]:
        """The same number of them, where an answer is to be a poor one."""
        faults = self._faults
        if faults.poor is None or not self._worsening.picks(faults.poor_share):
            return words
        poor = REFUSAL if faults.poor is Poor.REFUSE else words[:REPEATED_WORDS]
        return [poor[at % len(poor)] for at in range(len(words))]

    def _breakage(self) -> Breakage | None:
        faults = self._faults
        if faults.garble is None or not self._garbling.picks(faults.garble_share):
            return None
        return Breakage(kind=faults.garble, after_tokens=faults.garble_after_tokens)

    def _hold_or_resume(self) -> None:
        if self._faults.stall or self.asleep:
            self.clock.stall()
        else:
            self.clock.resume()

    def _on_step(self, step: EngineStep, ended: StepResult) -> None:
        for listener in self.listeners:
            listener(step, ended)
        self._left.clear()
        # A timer may be early by its resolution: no token is older than its step.
        now_s = max(self.clock.now_s, self.clock.step_ends_at_s)
        # The book of hundreds of sequences and writing to their sockets take milliseconds: first tokens, which are
        # waited for most, go before all of it.
        self._write(ended.prompted)
        self.observations.step(step, ended, now_s)
        self._write(ended.decoded)
        for job_id in ended.finished:
            self._finish(job_id, now_s)
        if self._tokens_to_crash is not None:
            self._tokens_to_crash -= len(ended.decoded) + len(ended.prompted)
            if self._tokens_to_crash <= 0:
                self._crash()

    def _write(self, job_ids: tuple[int, ...]) -> None:
        """One more token for each."""
        for job_id in job_ids:
            answer = self._answers.get(job_id)
            if answer is not None:
                generation, index = answer
                generation.token(index)

    def _finish(self, job_id: int, now_s: float) -> None:
        answer = self._answers.pop(job_id, None)
        if answer is None:
            return
        generation, index = answer
        planned = generation.planned[index]
        self.observations.finish(job_id, now_s, "length" if planned.is_cut else "stop")
        if planned.slot is not None:
            self.slots.hold(planned.slot, planned.job)
        if planned.job.keeps_kv:
            self.kv.keep(planned.job)
        generation.finish(index)

    def _cancelled(self, generation: Generation) -> None:
        for one in generation.planned:
            if self._answers.pop(one.job.id, None) is not None and self.listeners:
                self._left[one.job.id] = one
            self.kv.cancel(one.job.id)
            self.machine.cancel(one.job.id)
            self.observations.abort(one.job.id)

    def _crash(self) -> None:
        self.close()
        self._on_crash()
