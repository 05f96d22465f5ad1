"""Makes the table of retrieval/embed/static from a sentence encoder: README.md says how and why.

    python distil.py MODEL WORDNET GO ..

MODEL is the folder with model.safetensors and tokenizer.json, WORDNET the one with data.noun and its like, GO the one
of Go's own sources. It writes vocabulary.txt, table.bin and testdata/golden.json. The vectors of the sentences take most of the
time; they are kept in MODEL/sentences.npy.
"""

import json
import re
import struct
import sys
from math import isqrt
from pathlib import Path

import numpy as np
import onnxruntime
import scipy.sparse
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

DIMENSIONS = 128
COMMON = 1e-4  # a piece with this share of all text begins with half the weight of a rare one
LAYERS, HEADS, WIDTH = 6, 12, 384

DEFINITIONS, COMMENTS = 104_000, 54_000  # sentences of WordNet and of Go's comments, drawn by the seed
LONGEST = 96  # pieces of a sentence that are read
HELD = 3_000  # sentences that show when to stop
KEPT, STEPS, RATE = 2.0, 80, 0.03  # how much a row is held to where it began; steps of Adam, and the first one's size

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


class Encoder:
    """BERT, for batches of texts with the same number of pieces."""

    def __init__(self, path):
        self.w, self.nodes, self.constants = tensors(path), [], []
        at = self.op("Shape", "ids")
        place = self.op("Slice", self.w["embeddings.position_embeddings.weight"] + self.w["embeddings.token_type_embeddings.weight"][0], np.array([0]), self.op("Slice", at, np.array([1]), np.array([2])))
        x = self.norm("embeddings.LayerNorm", self.op("Add", self.op("Gather", self.w["embeddings.word_embeddings.weight"], "ids"), place))
        for n in range(LAYERS):
            x = self.layer(f"encoder.layer.{n}.", x)
        self.mean = self.op("ReduceMean", x, np.array([1]), keepdims=0)
        graph = helper.make_graph(
            self.nodes, "encoder",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "length"])],
            [helper.make_tensor_value_info(self.mean, TensorProto.FLOAT, ["batch", WIDTH])],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

    def op(self, kind, *inputs, **attributes):
        """Adds an operation, and returns the name of what it makes. An array is a constant."""
        names = []
        for value in inputs:
            if not isinstance(value, str):
                self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), f"constant {len(self.constants)}"))
                value = self.constants[-1].name
            names.append(value)
        made = f"value {len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, names, [made], **attributes))
        return made

    def linear(self, name, x):
        return self.op("Add", self.op("MatMul", x, self.w[name + ".weight"].T), self.w[name + ".bias"])

    def norm(self, name, x):
        return self.op("LayerNormalization", x, self.w[name + ".weight"], self.w[name + ".bias"], epsilon=1e-12)

    def layer(self, at, x):
        heads = lambda name, order: self.op("Transpose", self.op("Reshape", self.linear(at + "attention.self." + name, x), np.array([0, 0, HEADS, WIDTH // HEADS])), perm=order)
        q, k, v = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
        a = self.op("Softmax", self.op("Mul", self.op("MatMul", q, k), np.float32((WIDTH // HEADS) ** -0.5)), axis=-1)
        a = self.op("Reshape", self.op("Transpose", self.op("MatMul", a, v), perm=[0, 2, 1, 3]), np.array([0, 0, WIDTH]))
        x = self.norm(at + "attention.output.LayerNorm", self.op("Add", x, self.linear(at + "attention.output.dense", a)))
        h = self.linear(at + "intermediate.dense", x)
        h = self.op("Mul", self.op("Mul", h, np.float32(0.5)), self.op("Add", self.op("Erf", self.op("Mul", h, np.float32(0.5**0.5))), np.float32(1)))
        return self.norm(at + "output.LayerNorm", self.op("Add", x, self.linear(at + "output.dense", h)))

    def __call__(self, texts, what):
        """Returns the mean of the last layer over the pieces of each text, which are numbers."""
        vectors, by_length, done = np.zeros((len(texts), WIDTH), np.float32), {}, 0
        for at, text in enumerate(texts):
            by_length.setdefault(len(text), []).append(at)
        for length, places in sorted(by_length.items()):
            step = max(1, 2048 // length)
            for begin in range(0, len(places), step):
                some = places[begin : begin + step]
                vectors[some] = self.session.run([self.mean], {"ids": np.array([texts[n] for n in some], np.int64)})[0]
                done += len(some)
                print(f"\r{done} of {len(texts)} {what}", end="", file=sys.stderr)
        print(file=sys.stderr)
        return vectors


def definitions(folder):
    """Returns what WordNet says of each of its meanings, and the sentences in which it shows them."""
    found = {}
    for name in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            head, gloss = line.split("|", 1)
            fields = head.split()
            words = [re.sub(r"\(.*?\)", "", fields[4 + 2 * i]).replace("_", " ") for i in range(int(fields[3], 16))]
            parts = [part.strip() for part in gloss.strip().split(";")]
            found[", ".join(words[:2]) + ": " + "; ".join(part for part in parts if not part.startswith('"'))] = True
            for part in parts:
                if part.startswith('"') and len(part.strip('" ').split()) >= 4:
                    found[part.strip('" ')] = True
    return list(found)


def comments(folder):
    """Returns the sentences of comments in sources of Go."""
    found = {}
    for path in sorted(folder.rglob("*.go")):
        if {"testdata", "vendor"} & set(path.parts):
            continue
        for block in re.findall(r"(?:^[ \t]*//(?!go:|line|export).*\n)+", path.read_text(encoding="utf-8", errors="replace"), re.M):
            text = " ".join(re.sub(r"^[ \t]*//[ \t]?", "", line) for line in block.split("\n")).strip()
            if "Copyright" in text:
                continue
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text):
                if 5 <= len(sentence.split()) <= 60:
                    found[sentence] = True
    return list(found)


def drawn(rng, sentences, count):
    return [sentences[n] for n in rng.permutation(len(sentences))[:count]]


def fitted(pieces, counts, vectors):
    """Returns the row of each piece, so that the sum of a sentence's rows points where the encoder's vector of the sentence does."""
    rng = np.random.default_rng(1)
    order = rng.permutation(len(vectors))
    held, seen = order[:HELD], order[HELD:]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors -= vectors[seen].mean(0)
    variances, axes = np.linalg.eigh(vectors[seen].T @ vectors[seen])
    axes = axes[:, ::-1][:, :DIMENSIONS]
    print(f"{variances[::-1][:DIMENSIONS].sum() / variances.sum():.3f} of the variance", file=sys.stderr)
    want = vectors @ axes
    want /= np.linalg.norm(want, axis=1, keepdims=True)
    share = 1 / np.arange(1, len(pieces) + 1)
    share /= share.sum()
    first = ((pieces - pieces.mean(0)) @ axes * (COMMON / (COMMON + share))[:, None]).astype(np.float32)
    first /= np.sqrt((first**2).sum(1).mean())

    def pointing(some, rows):
        sums = counts[some] @ rows
        length = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-9
        return sums / length, length

    def agreement(rows):
        """How well the likeness of two sentences that were not fitted goes with the encoder's."""
        a, b = np.random.default_rng(3).integers(0, len(held), (2, 20_000))
        like = lambda of: (of[a] * of[b]).sum(1) / (np.linalg.norm(of[a], axis=1) * np.linalg.norm(of[b], axis=1) + 1e-9)
        return np.corrcoef(like(pointing(held, rows)[0]), like(vectors[held]))[0, 1]

    rows, mean, square = first.copy(), np.zeros_like(first), np.zeros_like(first)
    back = counts[seen].T.tocsr()
    for step in range(STEPS):
        if step % 10 == 0:
            cosine = (pointing(held, rows)[0] * want[held]).sum(1).mean()
            print(f"step {step}: of sentences not fitted a cosine of {cosine:.4f}, an agreement of {agreement(rows):.4f}", file=sys.stderr)
        points, length = pointing(seen, rows)
        slope = back @ ((points * (points * want[seen]).sum(1, keepdims=True) - want[seen]) / length) + KEPT * (rows - first)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope * slope
        rate = RATE * min(1, 2 * (1 - step / STEPS))
        rows = rows - rate * (mean / (1 - 0.9 ** (step + 1))) / (np.sqrt(square / (1 - 0.99 ** (step + 1))) + 1e-8)
    print(f"at last an agreement of {agreement(rows):.4f}", file=sys.stderr)
    return rows


def rounded(rows):
    """Returns rows as int8. A rotation spreads what the first axes have over all of them, so that none is cut off by 8 bits."""
    rotation, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((DIMENSIONS, DIMENSIONS)))
    rows = rows @ rotation
    return np.clip(np.rint(rows * (127 / np.quantile(np.abs(rows), 0.9999))), -127, 127).astype(np.int8)


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


def main(model, wordnet, go, out):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pieces = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]
    kept = [n for n, piece in enumerate(pieces) if not (piece.startswith("[") and piece.endswith("]") and len(piece) > 2)]
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    place = {pieces[n]: i for i, n in enumerate(kept)}

    encoder, rng = Encoder(model / "model.safetensors"), np.random.default_rng(2)
    sentences = drawn(rng, definitions(wordnet), DEFINITIONS) + drawn(rng, comments(go), COMMENTS)
    read = [e.ids for e in tokenizer.encode_batch(sentences, add_special_tokens=False)]
    saved = model / "sentences.npy"
    if not saved.exists():
        np.save(saved, encoder([[first, *ids[: LONGEST - 2], last] for ids in read], "sentences"))
    where = {n: i for i, n in enumerate(kept)}
    known = [[where[n] for n in ids if n in where] for ids in read]
    at = np.repeat(np.arange(len(known)), [len(ids) for ids in known])
    counts = scipy.sparse.csr_matrix((np.ones(len(at), np.float32), (at, np.concatenate(known).astype(int))), (len(known), len(kept)))
    rows = rounded(fitted(encoder([[first, n, last] for n in kept], "pieces"), counts, np.load(saved)))

    (out / "vocabulary.txt").write_text("".join(pieces[n] + "\n" for n in kept), encoding="utf-8")
    (out / "table.bin").write_bytes(rows.tobytes())
    (out / "testdata").mkdir(exist_ok=True)
    (out / "testdata" / "golden.json").write_text(golden(tokenizer, place, rows))


if __name__ == "__main__":
    main(*(Path(arg) for arg in sys.argv[1:]))
