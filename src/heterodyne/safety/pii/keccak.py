"""Keccak-256 as Ethereum has it: SHA-3 before its padding was changed, which hashlib does not offer."""

from typing import Final

RATE_BYTES: Final = 136
MASK: Final = (1 << 64) - 1
ROUNDS: Final = 24


def keccak_256(data: bytes) -> bytes:
    """The digest of a short message, in plain Python: an address is 40 bytes, one block."""
    padded = bytearray(data)
    padded += bytes(RATE_BYTES - len(data) % RATE_BYTES)
    padded[len(data)] |= 0x01
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for block in range(0, len(padded), RATE_BYTES):
        for lane in range(RATE_BYTES // 8):
            at = block + 8 * lane
            lanes[lane % 5][lane // 5] ^= int.from_bytes(padded[at : at + 8], "little")
        lanes = _permuted(lanes)
    return b"".join(lanes[lane % 5][lane // 5].to_bytes(8, "little") for lane in range(4))


def _permuted(lanes: list[list[int]]) -> list[list[int]]:
    """Keccak-f[1600]: theta, rho with pi, chi, iota, in the names of the specification."""
    feedback = 1
    for _ in range(ROUNDS):
        parity = [column[0] ^ column[1] ^ column[2] ^ column[3] ^ column[4] for column in lanes]
        for x in range(5):
            change = parity[x - 1] ^ _rotated(parity[(x + 1) % 5], 1)
            lanes[x] = [lane ^ change for lane in lanes[x]]
        x, y, current = 1, 0, lanes[1][0]
        for step in range(ROUNDS):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x][y] = lanes[x][y], _rotated(current, (step + 1) * (step + 2) // 2)
        for y in range(5):
            row = [lanes[x][y] for x in range(5)]
            for x in range(5):
                lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & MASK & row[(x + 2) % 5])
        for place in range(7):
            feedback = (feedback << 1 ^ (feedback >> 7) * 0x71) % 256
            if feedback & 2:
                lanes[0][0] ^= 1 << ((1 << place) - 1)
    return lanes


def _rotated(value: int, by: int) -> int:
    by %= 64
    return (value << by | value >> (64 - by)) & MASK
