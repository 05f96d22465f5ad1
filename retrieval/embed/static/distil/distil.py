"""Makes the table of retrieval/embed/static from a sentence encoder: README.md says how and why.

    python distil.py MODEL ..

MODEL is the folder with model.safetensors and tokenizer.json. It writes vocabulary.txt, table.bin and
testdata/golden.json.
"""

import json
import struct
import sys
from math import isqrt
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

DIMENSIONS = 128
COMMON = 1e-4  # a piece with this share of all text has half the weight of a rare one
LAYERS, HEADS = 6, 12

# What golden.json has the pieces and the vectors of.
GOLDEN = [
    "", " \t\n", "hello world", "Hello, WORLD!", "Why was the table deleted?", "store/sqlite/write.go", "naïve café – façade", "ÅNGSTRÖM",
    "HTTPServer v1.26.8", "don't", "日本語 text", "한국어", "مرحبا", "unaffable antidisestablishmentarianism", "a" * 100, "a" * 101, "x\x00y\ufffdz\u200bw",
    "🙂 emoji", "price: $5 + €7 = £10", "tab\tand\r\nnewline\u00a0space", "ﬁne ½ ²", "Straße İstanbul", "e\u0301 \u0323",
    "We moved the retry logic to the client because the server dropped requests.", "\u00ad soft\u00adhyphen", "\U000e0001tag", "\ue000private", "१२३ ३४",
]


def tensors(path):
    """Reads a file of safetensors."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    found = {}
    for name, at in json.loads(raw[8 : 8 + length]).items():
        if name != "__metadata__" and at["dtype"] == "F32":
            begin, end = at["data_offsets"]
            found[name] = np.frombuffer(raw[8 + length + begin : 8 + length + end], "<f4").reshape(at["shape"])
    return found


def erf(x):
    """Abramowitz and Stegun 7.1.26, whose error is below 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    y = 1 - t * np.exp(-x * x) * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * y


class Encoder:
    """BERT, for batches of texts with the same number of pieces."""

    def __init__(self, path):
        self.w = tensors(path)

    def linear(self, name, x):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def __call__(self, ids):
        """Returns the mean of the last layer over the pieces of each text."""
        batch, length = ids.shape
        x = self.w["embeddings.word_embeddings.weight"][ids] + self.w["embeddings.position_embeddings.weight"][:length] + self.w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm("embeddings.LayerNorm", x)
        for n in range(LAYERS):
            at = f"encoder.layer.{n}."
            heads = lambda name: self.linear(at + "attention.self." + name, x).reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3)
            q, k, v = heads("query"), heads("key"), heads("value")
            a = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
            a = np.exp(a - a.max(-1, keepdims=True))
            a = (a / a.sum(-1, keepdims=True)) @ v
            a = self.linear(at + "attention.output.dense", a.transpose(0, 2, 1, 3).reshape(batch, length, -1))
            x = self.norm(at + "attention.output.LayerNorm", x + a)
            h = self.linear(at + "intermediate.dense", x)
            h = h * 0.5 * (1 + erf(h / np.sqrt(2)))
            x = self.norm(at + "output.LayerNorm", x + self.linear(at + "output.dense", h))
        return x.mean(1)


def table(encoder, tokenizer, kept):
    """Returns the row of each piece, as int8."""
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    rows = []
    for begin in range(0, len(kept), 512):
        ids = np.array([[first, n, last] for n in kept[begin : begin + 512]])
        rows.append(encoder(ids))
        print(f"\r{begin + len(ids)} of {len(kept)}", end="", file=sys.stderr)
    x = np.concatenate(rows).astype(np.float64)
    x -= x.mean(0)
    variances, axes = np.linalg.eigh(x.T @ x / len(x))
    x = x @ axes[:, ::-1][:, :DIMENSIONS]
    print(f"\n{variances[::-1][:DIMENSIONS].sum() / variances.sum():.3f} of the variance", file=sys.stderr)
    # A rotation spreads what the first axes have over all of them, so that none is cut off by 8 bits.
    rotation, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((DIMENSIONS, DIMENSIONS)))
    share = 1 / np.arange(1, len(kept) + 1)
    share /= share.sum()
    x = x @ rotation * (COMMON / (COMMON + share))[:, None]
    return np.clip(np.rint(x * (127 / np.quantile(np.abs(x), 0.9999))), -127, 127).astype(np.int8)


def pooled(rows):
    """The vector of a text, as Go computes it: the sum, scaled to a root mean square of 16."""
    total = [int(n) for n in rows.astype(np.int64).sum(0)]
    largest = max(abs(n) for n in total).bit_length()
    if largest == 0:
        return []
    total = [(abs(n) << 20 >> largest) * (1 if n > 0 else -1) for n in total]
    length, scale = isqrt(sum(n * n for n in total)), 16 * isqrt(len(total) << 32)
    return [min(127, (abs(n) * scale + (length << 15)) // (length << 16)) * (1 if n > 0 else -1) for n in total]


def golden(tokenizer, place, rows):
    """Returns the pieces and the vector of each text, by the tokenizer that came with the model."""
    found = []
    for text in GOLDEN:
        pieces = [p for p in tokenizer.encode(text, add_special_tokens=False).tokens if p in place]
        found.append({"text": text, "pieces": pieces, "vector": pooled(rows[[place[p] for p in pieces]])})
    return json.dumps(found, ensure_ascii=True, separators=(",", ":")).replace("},{", "},\n{") + "\n"


def main(model, out):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pieces = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    kept = [n for n, piece in enumerate(pieces) if not (piece.startswith("[") and piece.endswith("]") and len(piece) > 2)]
    rows = table(Encoder(model / "model.safetensors"), tokenizer, kept)
    (out / "vocabulary.txt").write_text("".join(pieces[n] + "\n" for n in kept), encoding="utf-8")
    (out / "table.bin").write_bytes(rows.tobytes())
    place = {pieces[n]: i for i, n in enumerate(kept)}
    (out / "testdata").mkdir(exist_ok=True)
    (out / "testdata" / "golden.json").write_text(golden(tokenizer, place, rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
