"""Train the weights that the package ships: `python -m benchmarks.safety.injection.train --data FOLDER`.

The same data give the same file, byte for byte. Nothing here is imported at run time.
"""

import argparse
import hashlib
import math
import re
from importlib import resources
from io import BytesIO
from pathlib import Path

import numpy as np

from benchmarks.safety.injection import corpus, model
from benchmarks.safety.injection.model import Model
from heterodyne.safety.injection import weights

PACKAGE = Path(str(resources.files("heterodyne.safety.injection")))


def main() -> None:
    """Read, fit, write the weights and their hash into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds guardrail_injection and others")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the file would be another one")
    arguments = parser.parse_args()
    texts = corpus.read(arguments.data)
    samples = [*filter(model.is_taught, texts.attacks), *texts.benign]
    data = packed(model.trained(model.prepared(samples)))
    digest = hashlib.sha256(data).hexdigest()
    print(f"{len(samples)} texts, {len(data)} bytes, sha256 {digest}")
    if arguments.check:
        raise SystemExit(None if digest == weights.SHA256 else f"the package has {weights.SHA256}")
    (PACKAGE / weights.FILE).write_bytes(data)
    source = PACKAGE / "weights.py"
    source.write_text(re.sub(r'SHA256: Final = "\w*"', f'SHA256: Final = "{digest}"', source.read_text()))


def packed(trained: Model) -> bytes:
    """The file of a model: half precision, which changes a score in its fourth digit."""
    file = BytesIO()
    np.savez(
        file,
        version=np.array(weights.VERSION),
        table=trained.fitted.table.astype(np.float16),
        surface=trained.fitted.surface.astype(np.float16),
        bias=np.float32(trained.fitted.bias),
        threshold=np.float32(1 / (1 + math.exp(-trained.threshold))),
    )
    return file.getvalue()


if __name__ == "__main__":
    main()
