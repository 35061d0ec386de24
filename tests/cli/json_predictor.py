"""An independent predictor, written from docs/model-json.md: scores and probabilities from `describe --json` alone.

formulas.py evaluates the features.
"""
import csv
import math

from formulas import Formulas, single

# ---- data ----

def is_missing(text):
    return text.strip() in ("", "nan", "NaN", "NA", "?")


def number(text):
    return float("nan") if is_missing(text) else single(float(text))


def read_csv(path):
    """Names of the columns, or None where there is no header line, and rows of texts; the last column is the label."""
    with open(path, newline="") as lines:
        table = [line for line in csv.reader(lines) if line]
    try:
        float(table[0][0])
        names = None
    except ValueError:
        names, table = table[0][:-1], table[1:]
    return names, [line[:-1] for line in table]


def read_svmlight(path):
    """Rows as {column from 0: value}; `qid:` is skipped."""
    rows = []
    with open(path) as lines:
        for line in lines:
            entries = [text.split(":") for text in line.rstrip("\n").split(" ")[1:] if text]
            rows.append({int(key) - 1: single(float(value)) for key, value in entries if key != "qid"})
    return rows


def read_named_lines(path):
    rows = []
    with open(path) as lines:
        for line in lines:
            row = {}
            for text in line.split()[1:]:
                name, _, value = text.rpartition(":") if ":" in text else (text, "", "1")
                row[name] = row.get(name, 0.0) + single(float(value))
            rows.append(row)
    return rows


# ---- preprocessing ----

def scaled(model, j, value):
    scaling = model["scaling"]
    return single((value - scaling["offset"][j]) * scaling["factor"][j]) if scaling["factor"] else value


def fill(model, j, value):
    return model["means"][j] if math.isnan(value) else value


def level_columns(model):
    """{column: (column of text, level)}."""
    return {each["first_column"] + i: (each["name"], level)
            for each in model.get("categories", []) for i, level in enumerate(each["levels"])}


def cell(text, level=None):
    if level is None or is_missing(text):
        return number(text)
    return 1.0 if text == level else 0.0


def transformed(model, row):
    kind, idf = (model.get("transform", {}).get(key) for key in ("kind", "idf"))
    if kind == "log1p":
        return [single(math.log1p(v)) for v in row]
    if kind == "binary":
        return [1.0 if v > 0 else 0.0 for v in row]
    if kind == "tfidf":
        row = [v * w for v, w in zip(row, idf, strict=True)]
        length = math.sqrt(sum(v * v for v in row))
        return [single(v / length) if v else 0.0 for v in row]
    return row


def table_rows(model, path):
    """Rows of the model's raw columns: in its order, with columns for levels and indicators, filled and transformed."""
    indicators = model.get("indicators", [])
    width = model["columns"] - len(indicators)
    if str(path).endswith(".svm"):
        rows = [[row.get(j, 0.0) for j in range(width)] for row in read_svmlight(path)]
    else:
        names, texts = read_csv(path)
        sources = [(j,) for j in range(width)]
        if names and model["column_names"]:
            levels = level_columns(model)
            sources = [levels.get(j, (model["column_names"][j],)) for j in range(width)]
            sources = [(names.index(name), *level) for name, *level in sources]
        rows = [[cell(row[at], *level) for at, *level in sources] for row in texts]
    rows = [row + [float(math.isnan(row[j])) for j in indicators] for row in rows]
    return [transformed(model, [fill(model, j, v) for j, v in enumerate(row)]) for row in rows]


# ---- linear models ----

def stage_weights(model, stage):
    """{design column: weights} and bias of one stage of a model described with --stages."""
    first = 0 if model["increments"] else stage
    weights, bias = {}, [0.0] * len(model["names"])
    for each in model["stages"][first:stage + 1]:
        for column, row in zip(each["columns"], each["weights"]):
            weights[column] = [a + b for a, b in zip(weights.get(column, [0.0] * len(row)), row)]
        bias = [a + b for a, b in zip(bias, each["bias"] or [0.0] * len(bias))]
    return weights, bias


def current_weights(model):
    weights = {}
    for feature in model["features"]:
        rows = feature["weights"]
        for n, row in enumerate(rows if isinstance(rows[0], list) else [rows]):
            weights[feature["first_column"] + n] = row
    return weights, model["bias"]


def designs(model, path):
    """{design column: value} of each row."""
    templates = [feature["formula"]["op"] == "template_maximum" for feature in model["features"]]
    exact = all(templates) and not model["scaling"]["factor"]
    for raw in table_rows(model, path):
        formulas = Formulas(model["shared"], [scaled(model, j, v) for j, v in enumerate(raw)])
        design = {}
        for feature in model["features"]:
            for n, value in enumerate(formulas.value(feature["formula"])):
                design[feature["first_column"] + n] = value if exact else single(value)
        yield design


def weighted_sums(design, weights, bias):
    sums = [[b] for b in bias]
    for column, row in weights.items():
        for c, w in enumerate(row):
            sums[c].append(design[column] * w)
    return [math.fsum(terms) for terms in sums]


def linear_scores(model, path, stage=None):
    weights, bias = current_weights(model) if stage is None else stage_weights(model, stage)
    return [weighted_sums(design, weights, bias) for design in designs(model, path)]


def margin(model, row):
    if model["outputs"] == "tasks":
        return min(map(abs, row))
    second, first = sorted(row)[-2:]
    return first - second


def early_scores(model, path):
    """The scores of the first checkpoint whose margin is above its threshold, else the model's."""
    result, (weights, bias) = [], current_weights(model)
    for design in designs(model, path):
        for point in model["early"]["checkpoints"]:
            row = weighted_sums(design, dict(zip(point["columns"], point["weights"], strict=True)),
                                point["bias"] or [0.0] * len(bias))
            if margin(model, row) > point["threshold"]:
                break
        else:
            row = weighted_sums(design, weights, bias)
        result.append(row)
    return result


# ---- sharing models ----

MASK = (1 << 64) - 1
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def rotate(value, bits):
    return ((value << bits) | (value >> (64 - bits))) & MASK


def xxh64(data):
    """XXH64 with seed 0."""
    p1, p2, p3, p4, p5 = PRIMES
    step = lambda acc, lane: rotate((acc + lane * p2) & MASK, 31) * p1 & MASK
    at = 0
    if len(data) >= 32:
        lanes = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
        while at + 32 <= len(data):
            for i in range(4):
                lanes[i] = step(lanes[i], int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "little"))
            at += 32
        hashed = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            hashed = ((hashed ^ step(0, lane)) * p1 + p4) & MASK
    else:
        hashed = p5
    hashed = (hashed + len(data)) & MASK
    while at + 8 <= len(data):
        hashed = (rotate(hashed ^ step(0, int.from_bytes(data[at:at + 8], "little")), 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= len(data):
        hashed = (rotate(hashed ^ int.from_bytes(data[at:at + 4], "little") * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        hashed = rotate(hashed ^ byte * p5 & MASK, 11) * p1 & MASK
    hashed = (hashed ^ hashed >> 33) * p2 & MASK
    hashed = (hashed ^ hashed >> 29) * p3 & MASK
    return hashed ^ hashed >> 32


def id_of(ids, key):
    """The id of a column's number or name; None if the model has never seen it."""
    shift = 1 if ids["bias"] else 0
    if ids["hash_bits"]:
        data = key.encode() if isinstance(key, str) else key.to_bytes(8, "little")
        return (xxh64(data) & ((1 << ids["hash_bits"]) - 1)) + shift
    if isinstance(key, str):
        return ids["names"].index(key) + shift if key in ids["names"] else None
    if key < 1 << 22:
        return key + shift
    return (1 << 22) + 1 + ids["large_indices"].index(key) if key in ids["large_indices"] else None


def examples(model, path):
    """Rows as {id: value}."""
    ids = model["ids"]
    if str(path).endswith(".txt"):
        rows = read_named_lines(path)
    elif str(path).endswith(".svm"):
        rows = read_svmlight(path)
    else:
        rows = [dict(enumerate(scaled(model, j, v) for j, v in enumerate(row))) for row in table_rows(model, path)]
        if ids["by_name"]:
            rows = [{model["column_names"][j]: v for j, v in row.items()} for row in rows]
    for row in rows:
        x = {0: 1.0} if ids["bias"] else {}
        for key, value in row.items():
            value = 1.0 if model["example"]["binary"] and value != 0 else value
            number_of = id_of(ids, key)
            if value != 0 and number_of is not None:
                x[number_of] = single(x.get(number_of, 0.0) + value)
        length = math.sqrt(sum(v * v for v in x.values()))
        if model["example"]["unit"] and length > 0:
            x = {i: single(v / length) for i, v in x.items()}
        yield x


def mapped(map_, x, p):
    if map_["kind"] == "product":
        return x * p
    if map_["kind"] == "difference":
        return abs(x - p)
    if x == 0:
        return 0.0
    return map_["high_value"] if p >= map_["high"] else map_["low_value"] if p <= map_["low"] else 0.0


def kernel(model, a, b):
    """Kernel value of two vectors given as {id: value}."""
    of = model["kernel"]
    if of["kind"] == "polynomial":
        return (math.fsum(v * b.get(i, 0.0) for i, v in a.items()) + of["offset"]) ** of["degree"]
    squared = math.fsum((a.get(i, 0.0) - b.get(i, 0.0)) ** 2 for i in a.keys() | b.keys())
    return math.exp(-squared / (2 * of["sigma"]))


def shared_sets(sets, r):
    """Numbers of the shared sets that hold class r; -1 is the set of all classes."""
    return {g for g, group in enumerate(sets["groups"]) if r in group["classes"]} | ({-1} if sets["common"] else set())


def sharing_scores(model, path):
    sets, classes = model["sets"], range(len(model["names"]))
    means = [{} for _ in classes]
    for feature, r, p in model["class_means"]:
        means[r][feature] = p
    of = [shared_sets(sets, r) for r in classes]
    score = kernel_score if "supports" in model else weight_score
    return [[score(model, x, r, means[r], of) for r in classes] for x in examples(model, path)]


def weight_score(model, x, r, mean, of):
    weights, terms = model["weights"], []
    if model["sets"]["own"][r]:
        terms += [w * x.get(feature, 0.0) for feature, c, w in weights["own"] if c == r]
    shared = [(f, w) for f, w in enumerate(weights["common"]) if w != 0] if -1 in of[r] else []
    shared += [(feature, w) for feature, g, w in weights["groups"] if g in of[r]]
    terms += [w * mapped(model["map"], x.get(f, 0.0), mean.get(f, 0.0)) for f, w in shared]
    return math.fsum(terms)


def kernel_score(model, x, r, mean, of):
    centred = {i: x.get(i, 0.0) - mean.get(i, 0.0) for i in x.keys() | mean.keys()}
    terms = []
    for support in model["supports"]:
        for sign, cls, key in ((1, support["right"], "centred_right"), (-1, support["wrong"], "centred_wrong")):
            if cls == r and model["sets"]["own"][r]:
                terms.append(sign * support["step"] * kernel(model, x, dict(enumerate(support["x"]))))
            if both := len(of[r] & of[cls]):
                terms.append(sign * support["step"] * both * kernel(model, centred, dict(enumerate(support[key]))))
    return math.fsum(terms)


# ---- answers ----

def scores(model, path, early=False):
    if early:
        return early_scores(model, path)
    return sharing_scores(model, path) if model["kind"] == "sharing" else linear_scores(model, path)


def probabilities(model, row):
    link = model["link"]
    row = [s / model.get("temperature", 1) for s in row]
    if link.endswith("_of_twice"):
        row = [2 * s for s in row]
    if link.startswith("logistic"):
        return [1 / (1 + math.exp(-s)) for s in row]
    top = max(row)
    p = normal([math.exp(s - top) for s in row])
    if link == "margin_softmax":
        p = normal([q * (math.e - (math.e - 1) * q) for q in p])
    return confident(model["confidence"], p) if "confidence" in model else p


def normal(p):
    return [q / math.fsum(p) for q in p]


def confident(seen, p):
    """The most probable class gets the probability that the model's map has for it, the others keep their proportions."""
    first = p.index(max(p))
    points = list(zip(seen["from"], seen["to"]))
    inside = [(a, b) for a, b in zip(points, points[1:]) if a[0] <= p[first] < b[0]]
    if inside:
        (x0, y0), (x1, y1) = inside[0]
        top = y0 + (p[first] - x0) / (x1 - x0) * (y1 - y0)
    else:
        top = points[0][1] if p[first] < points[0][0] else points[-1][1]
    others = normal([0 if c == first else q for c, q in enumerate(p)])
    top = max(top, max(others) / (1 + max(others)) * (1 + 1e-9))
    return [top if c == first else (1 - top) * q for c, q in enumerate(others)]
