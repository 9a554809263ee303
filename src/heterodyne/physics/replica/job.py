"""What a replica is asked to do, as far as its time and memory depend on it."""

from msgspec import Struct


class Job(Struct, frozen=True, kw_only=True, gc=False):
    """One sequence: a prompt to read and tokens to write."""

    id: int
    prompt_tokens: int
    output_tokens: int  # it ends after so many
    # Chained hashes of its full blocks, or of runs of them (`Scheduling.blocks_per_hash`), the prompt's first; they may
    # reach into the answer. Two jobs whose first hashes are equal share that prefix. Empty: it shares nothing.
    blocks: tuple[int, ...] = ()
    keeps_kv: bool = False  # a prefill job: it ends with its first token, its KV stays until it is fetched


class Scheduling(Struct, frozen=True, kw_only=True):
    """How an engine fills its steps, and what it has to fill them with."""

    slots: int  # sequences at once
    step_tokens: int  # of prompts and answers together, in one step
    blocks: int  # of KV memory
    block_tokens: int = 16
    mixes_prompts: bool = (
        True  # a step holds decoding sequences and prompt chunks; False: prompts have steps of their own
    )
    reuses_prefixes: bool = True
    blocks_per_hash: int = 1  # blocks that one hash of a job stands for

    @property
    def hash_tokens(self) -> int:
        """Tokens behind one hash of a job."""
        return self.block_tokens * self.blocks_per_hash

    @property
    def kv_tokens(self) -> int:
        """Tokens that the KV memory holds."""
        return self.blocks * self.block_tokens
