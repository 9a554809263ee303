"""Programs that behave as `trtllm-build` and `nvidia-smi` do, for a PATH without the vendor's."""

import sys
from pathlib import Path

BUILD = """\
import hashlib, json, os, pathlib, subprocess, sys, time
mode = {mode!r}
words = sys.argv[1:]
options = dict(zip(words[::2], words[1::2]))
known = {{"--checkpoint_dir", "--output_dir", "--workers", "--max_batch_size", "--max_input_len", "--max_seq_len"}}
if len(words) % 2 or set(options) - known:
    sys.exit(f"trtllm-build: error: unrecognized arguments: {{sorted(set(options) - known)}}")
checkpoint, target = (pathlib.Path(options[name]) for name in ("--checkpoint_dir", "--output_dir"))
config = json.loads((checkpoint / "config.json").read_text())
weights = (checkpoint / "rank0.safetensors").read_bytes()
head = json.loads(weights[8 : 8 + int.from_bytes(weights[:8], "little")])
head.pop("__metadata__", None)
print("[TRT-LLM] [I] read", len(head), "tensors", flush=True)
if mode == "fail":
    sys.exit("[TRT-LLM] [E] Out of memory: 80 GiB")
if mode == "hang":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pathlib.Path({said!r}).write_text(f"{{os.getpid()}} {{child.pid}}")
    time.sleep(600)
if mode == "nothing":
    sys.exit(0)
target.mkdir(exist_ok=True)
(target / "rank0.engine").write_bytes(hashlib.sha256(weights).digest())
said = {{"version": "1.2.0", "pretrained_config": config, "build_config": options, "tensors": head}}
(target / "config.json").write_text(json.dumps(said))
"""
SMI = """\
print({gpu!r} + ", 570.86.15")
"""


def scripted_tools(folder: Path, *, gpu: str | None = "NVIDIA H100 80GB HBM3", mode: str | None = "build") -> str:
    """The folder with the programs, to be a PATH; None leaves one out. A run that hangs writes its ids to `hanging`."""
    folder.mkdir()
    if gpu is not None:
        _script(folder / "nvidia-smi", SMI.format(gpu=gpu))
    if mode is not None:
        _script(folder / "trtllm-build", BUILD.format(mode=mode, said=str(folder / "hanging")))
    return str(folder)


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
