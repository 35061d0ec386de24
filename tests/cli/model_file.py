"""An independent reader of model files, written from docs/model-format.md: bytes to the structure of docs/model-json.md."""
import json
import math
import struct

from json_predictor import xxh64

LINKS = ("none", "identity", "softmax", "softmax_of_twice", "margin_softmax", "logistic", "logistic_of_twice")
OUTPUTS = ("classes", "tasks", "value")
SCALINGS = ("none", "minmax", "standard")
TRANSFORMS = ("none", "log1p", "binary", "tfidf")


class Damaged(Exception):
    pass


class Bytes:
    """The basic types, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Damaged("the file ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def numbers(self, letter, count):
        return list(struct.unpack(f"<{count}{letter}", self.take(count * struct.calcsize(f"<{letter}"))))

    def u8(self):
        return self.numbers("B", 1)[0]

    def u32(self):
        return self.numbers("I", 1)[0]

    def u64(self):
        return self.numbers("Q", 1)[0]

    def i64(self):
        return self.numbers("q", 1)[0]

    def f32(self):
        return self.numbers("f", 1)[0]

    def f64(self):
        return self.numbers("d", 1)[0]

    def text(self):
        return self.blob().decode(errors="surrogateescape")

    def blob(self):
        return self.take(self.u64())

    def texts(self):
        return [self.text() for _ in range(self.u64())]

    def floats(self):
        return self.numbers("f", self.u64())

    def doubles(self):
        return self.numbers("d", self.u64())

    def indices(self):
        return self.numbers("q", self.u64())

    def end(self):
        if self.at != len(self.data):
            raise Damaged(f"{len(self.data) - self.at} bytes are left")


def read(data):
    """The model in the bytes of a file."""
    if data[:8] != b"SHLEARN\n":
        raise Damaged("no model file")
    if xxh64(data[:-8]) != int.from_bytes(data[-8:], "little"):
        raise Damaged("the checksum does not match")
    file = Bytes(data[8:-8])
    version = file.u32()
    if not 1 <= version <= 4:
        raise Damaged(f"format version {version}")
    kind, metadata, payload = file.text(), json.loads(file.text()), Bytes(file.blob())
    model = {"linear": linear, "online-cascade": online_cascade, "sharing": sharing}[kind](payload)
    payload.end()
    model |= {"kind": kind, "metadata": metadata, "means": file.floats() if version >= 2 else []}
    model["link"] = LINKS[file.u8()] if version >= 3 else older_link(metadata, model["outputs"])
    for _ in range(file.u32() if version >= 4 else 0):
        name, section = file.text(), Bytes(file.blob())
        SECTIONS[name](model, section)
        section.end()
    file.end()
    return use_stage(model, model["stage"]) if "stages" in model else model


def older_link(metadata, outputs):
    twice = "_of_twice" if str(metadata.get("options", {}).get("loss", "")).endswith("-exp") else ""
    return {"classes": "softmax" + twice, "tasks": "logistic" + twice, "value": "identity"}[outputs]


# ---- sections ----

def categories(model, data):
    model["categories"] = [{"name": data.text(), "first_column": data.i64(), "levels": data.texts()}
                           for _ in range(data.u64())]


def indicators(model, data):
    model["indicators"] = data.indices()


def transform(model, data):
    model["transform"] = {"kind": TRANSFORMS[data.u8()], "idf": data.doubles()}


def temperature(model, data):
    model["temperature"] = data.f64()


def confidence(model, data):
    model["confidence"] = {"from": data.doubles(), "to": data.doubles()}


def early(model, data):
    model["early"] = {"stage": data.i64(), "disagreement": data.f64(), "confidence": data.f64(), "rows": data.i64(),
                      "disagreeing": data.i64(), "upper_bound": data.f64(), "checkpoints": []}
    for _ in range(data.u64()):
        model["early"]["checkpoints"].append({**stage(data, len(model["names"])), "threshold": data.f64()})


SECTIONS = {each.__name__: each for each in (categories, indicators, transform, temperature, confidence, early)}


def scaling(data):
    return {"kind": SCALINGS[data.u8()], "offset": data.doubles(), "factor": data.doubles()}


# ---- linear models ----

def linear(data):
    model = {"columns": data.i64(), "outputs": OUTPUTS[data.u8()], "names": data.texts(),
             "column_names": data.texts(), "scaling": scaling(data), "shared": []}
    model["features"] = features(data, model)
    model["increments"] = bool(data.u8())
    model["stages"] = [stage(data, len(model["names"])) for _ in range(data.u64())]
    model["stage"] = data.i64()
    return model


def stage(data, outputs):
    columns, weights = data.indices(), data.doubles()
    rows = [weights[at:at + outputs] for at in range(0, len(weights), outputs)]
    return {"columns": columns, "weights": rows, "bias": data.doubles(), "features": data.i64(),
            "parameter": data.f64()}


def features(data, model):
    result, first = [], 0
    for _ in range(data.u64()):
        formula, width = POOLS[data.text()](data, model)
        result.append({"formula": formula, "first_column": first, "width": width})
        first += width
    return result


def use_stage(model, number):
    """The weights in use: those of one stage, or the sums of all stages up to it."""
    model["stage"] = number
    zeros = [0.0] * len(model["names"])
    weights, model["bias"] = {}, zeros
    for each in model["stages"][0 if model["increments"] else number:number + 1]:
        for column, row in zip(each["columns"], each["weights"], strict=True):
            weights[column] = [a + b for a, b in zip(weights.get(column, zeros), row, strict=True)]
        model["bias"] = [a + b for a, b in zip(model["bias"], each["bias"] or zeros, strict=True)]
    for feature in model["features"]:
        own = [weights.get(feature["first_column"] + n, zeros) for n in range(feature["width"])]
        feature["weights"] = own if feature["width"] > 1 else own[0]
    return model


def use_features(model, count):
    """The last stage of at most `count` features."""
    return use_stage(model, max(s for s, each in enumerate(model["stages"]) if each["features"] <= count))


# ---- features: formula and number of columns ----

def column(j):
    return {"op": "columns", "columns": [j]}


def columns(data, _):
    return column(data.i64()), 1


def stumps(data, _):
    return {"op": "less_than", "of": column(data.i64()), "threshold": data.f64()}, 1


def products(data, _):
    return {"op": "product", "of": [column(data.i64()), column(data.i64())]}, 1


def monomials(data, _):
    return {"op": "product", "of": [column(j) for j in data.indices()]}, 1


def all_columns(count):
    return {"op": "all_columns", "count": count}


def kernel(data, model):
    point, sigma, _ = data.floats(), data.f64(), data.i64()
    squared = {"op": "squared_distance", "of": all_columns(model["columns"]), "point": point}
    return {"op": "exp", "of": {"op": "affine", "of": squared, "factor": -1 / (2 * sigma), "offset": [0.0]}}, 1


def components(data, model):
    """The principal components, stored where they are met first."""
    number = data.u32()
    if number == len(model["shared"]):
        mean, variance = data.doubles(), data.doubles()
        model["shared"].append({"op": "projection", "of": all_columns(model["columns"]), "centre": mean,
                                "directions": [data.floats() for _ in variance], "rounded": True})
    return {"op": "shared", "index": number}, len(model["shared"][number]["directions"])


def pieces(data, model):
    point, width = components(data, model) if data.u8() else (all_columns(model["columns"]), model["columns"])
    distance = {"op": "squared_distance", "of": point, "point": data.floats()}
    inside = {"op": "less_than", "of": distance, "threshold": data.f64()}
    data.i64()
    with_one = {"op": "concatenation", "of": [point, {"op": "constant", "value": 1.0}]}
    return {"op": "product", "of": [inside, with_one]}, width + 1


def patches(data, model):
    node = {"op": "template_maximum", "of": all_columns(model["columns"]), "height": data.i64(), "width": data.i64(),
            "low": data.f32(), "high": data.f32(), "contrast": data.f64(), "size": data.i64()}
    size = node["size"]
    node["template"] = data.numbers("b", size * size)
    node["row_mask"] = data.numbers("I", node["height"] - size + 1)
    node["column_mask"] = data.numbers("I", node["width"] - size + 1)
    last = data.u32()
    return node | {"multiplier": last & 0xffff, "deskew": bool(last >> 16 & 1)}, 1


def fourier(data, _):
    inputs, count, sigma, seed = data.i64(), data.i64(), data.f64(), data.u64()
    phases = Random(seed, 0)
    phase = [2 * math.pi * phases.uniform() for _ in range(count)]
    streams = [Random(seed, j + 1) for j in range(inputs)]
    frequencies = [[stream.normal() / math.sqrt(sigma) for _ in range(count)] for stream in streams]
    angle = {"op": "projection", "of": all_columns(inputs), "centre": [], "rounded": False,
             "directions": [list(each) for each in zip(*frequencies)]}
    wave = {"op": "cos", "of": {"op": "affine", "of": angle, "factor": 1.0, "offset": phase}}
    return {"op": "affine", "of": wave, "factor": math.sqrt(2 / count), "offset": [0.0]}, count


POOLS = {each.__name__: each for each in (columns, stumps, products, monomials, kernel, pieces, patches, fourier)}

MASK = (1 << 64) - 1


def rotate(x, bits):
    return (x << bits | x >> 64 - bits) & MASK


class Random:
    """xoshiro256++, seeded by splitmix64."""

    def __init__(self, seed, stream):
        self.x, self.spare = seed, None
        self.x = self.split() ^ stream
        self.state = [self.split() for _ in range(4)]

    def split(self):
        self.x = self.x + 0x9e3779b97f4a7c15 & MASK
        z = (self.x ^ self.x >> 30) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
        return z ^ z >> 31

    def next(self):
        a, b, c, d = self.state
        result = rotate(a + d & MASK, 23) + a & MASK
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ (b << 17 & MASK), rotate(d, 45)]
        return result

    def uniform(self):
        return (self.next() >> 11) / 2**53

    def normal(self):
        if self.spare is not None:
            value, self.spare = self.spare, None
            return value
        s = 0
        while s >= 1 or s == 0:
            u, v = -1 + 2 * self.uniform(), -1 + 2 * self.uniform()
            s = u * u + v * v
        factor = math.sqrt(-2 * math.log(s) / s)
        self.spare = v * factor
        return u * factor


# ---- online cascades ----

def online_cascade(data):
    model = {"names": data.texts(), "column_names": data.texts(), "scaling": scaling(data), "shared": []}
    model["outputs"] = "classes" if data.u8() < 2 else "tasks"
    has_bias, _, gamma = data.u8(), data.u8(), data.f64()
    outputs, model["columns"], steps = data.i64(), data.i64(), data.i64()
    for _ in range(3):  # examples, mistakes, predictions
        data.i64()
    mix, phi = data.doubles(), data.doubles()
    levels = [level(data, each, steps, gamma, has_bias) for each in zip(mix, phi, strict=True)]
    used = sorted({j for rows, _ in levels for j, row in rows.items() if any(row)})
    model["features"] = [{"formula": column(j), "first_column": place, "width": 1} for place, j in enumerate(used)]
    model["increments"], model["stage"], model["stages"] = True, len(levels) - 1, []
    for rows, bias in levels:
        own = [place for place, j in enumerate(used) if any(rows.get(j, ()))]
        model["stages"].append({"columns": own, "weights": [rows[used[place]] for place in own], "bias": bias})
    return model


def level(data, mix_and_phi, t, gamma, has_bias):
    """{column: weights} and bias of one level."""
    (mix, phi), bias, known = mix_and_phi, data.doubles(), data.doubles()
    used, squares = data.indices(), data.doubles()
    rows = {}
    for j, square in zip(used, squares, strict=True):
        sums = data.doubles()
        rows[j] = weights_of(sums, square, known[j] if known else 0.0, mix, phi, t, gamma)
    scale = -1 / (gamma * math.sqrt(t)) if has_bias and t > 0 else 0.0
    return rows, [scale * b for b in bias]


def weights_of(sums, square, known, mix, phi, t, gamma):
    border = t * phi
    if t == 0 or square == 0 or (known == 0 and square <= border * border * (1 - 1e-9)):
        return [0.0] * len(sums)
    soft = [u - max(-border * mix, min(u, border * mix)) for u in sums]
    shrink = 1.0
    if mix < 1 and phi > 0:
        norm = math.sqrt(math.fsum(u * u for u in soft) + known * t * t)
        shrink = max(0.0, 1 - border * (1 - mix) / norm) if norm > 0 else 0.0
    return [-shrink / (gamma * math.sqrt(t)) * u for u in soft]


# ---- sharing models ----

def sharing(data):
    model = {"outputs": "classes", "hypotheses": data.u8()}
    model["map"] = {"kind": ("product", "frequency", "difference")[data.u8()], "high": data.f64(), "low": data.f64(),
                    "high_value": data.f64(), "low_value": data.f64()}
    data.u8()  # prototype
    model["kernel"] = {"kind": ("none", "gaussian", "polynomial")[data.u8()], "sigma": data.f64(),
                       "degree": data.f64(), "offset": data.f64()}
    data.i64()  # budget
    update, _, average = data.u8(), data.f64(), data.u8()
    model["example"] = {"binary": bool(data.u8()), "unit": bool(data.u8())}
    model["ids"] = {"by_name": bool(data.u8()), "hash_bits": data.u8(), "bias": bool(data.u8()),
                    "names": data.texts(), "large_indices": data.indices()}
    model["scaling"], model["names"] = scaling(data), data.texts()
    model["sets"] = sets(data)
    data.doubles()  # examples of each class
    divisor = data.doubles()
    model["class_means"] = [[f, r, total / divisor[r]] for (f, r), total in table(data).items()]
    weights, weighted = weights_of_sets(data), weights_of_sets(data)
    supports(model, data, average)
    votes = data.i64()
    data.numbers("d", 3 * votes)
    if update == 2:  # the memory of adaptive steps
        weights_of_sets(data), data.doubles(), data.f64()
    model["columns"] = data.i64() if data.at < len(data.data) else 0
    model["column_names"] = data.texts() if data.at < len(data.data) else []
    share = 1 / model["examples"] if average and model["examples"] else 0.0
    own, common, groups = (less(a, b, share) for a, b in zip(weights, weighted))
    model["weights"] = {"own": [[*key, w] for key, w in own.items()],
                        "common": [common.get(f, 0.0) for f in range(max(common, default=-1) + 1)],
                        "groups": [[*key, w] for key, w in groups.items()]}
    if model["kernel"]["kind"] == "none":
        del model["supports"]
    return model


def sets(data):
    data.u8()  # hypotheses, again
    common, _ = data.u8(), data.u8()
    own = [bool(data.u8()) for _ in range(data.i64())]
    groups = [{"name": data.text(), "classes": data.indices()} for _ in range(data.i64())]
    for _ in range(data.i64()):  # sets that classes to come belong to
        data.text(), data.indices()
    for _ in range(data.i64()):  # classes as paths
        data.text(), data.u32()
    return {"own": own, "common": bool(common), "groups": groups}


def table(data):
    """{(feature, class or group): number}."""
    data.i64()  # width of full rows
    entries = {}
    for feature in range(data.i64()):
        full, values = data.u8(), data.doubles()
        places = range(len(values)) if full else data.numbers("I", len(values))
        entries |= {(feature, place): value for place, value in zip(places, values) if value != 0}
    return entries


def weights_of_sets(data):
    return table(data), {f: w for f, w in enumerate(data.doubles()) if w != 0}, table(data)


def less(weights, weighted, share):
    return {key: w - share * weighted.get(key, 0.0) for key, w in weights.items()} | {
        key: -share * w for key, w in weighted.items() if key not in weights}


def supports(model, data, average):
    entries = [{"right": data.u32(), "wrong": data.u32(), "step": data.f64(), "born": data.f64()}
               for _ in range(data.i64())]
    plain, centred = vectors(data, "f"), vectors(data, "d")
    _, _, model["examples"], *_ = data.numbers("q", 7)
    for j, support in enumerate(entries):
        support["step"] *= 1 - support["born"] / model["examples"] if average else 1
        if plain:
            support["x"] = plain[j]
        if centred:
            support["centred_right"], support["centred_wrong"] = centred[2 * j:2 * j + 2]
    model["supports"] = entries


def vectors(data, letter):
    """Vectors stored eight side by side."""
    result, count = [], data.i64()
    for first in range(0, count, 8):
        data.i64()  # coordinates
        values = data.numbers(letter, data.u64())
        result += [values[lane::8] for lane in range(min(8, count - first))]
    return result
