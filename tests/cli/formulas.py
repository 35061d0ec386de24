"""The formulas of docs/model-json.md, evaluated on one row.

Numbers are Python's (double precision); where the document says float32, `single` rounds.
"""
import math
import struct


def single(value):
    """The nearest float32."""
    return struct.unpack("f", struct.pack("f", value))[0]


def clamp(value, low, high):
    return max(low, min(high, value))


def broadcast(lists):
    length = max(len(values) for values in lists)
    return [values * length if len(values) == 1 else values for values in lists]


class Formulas:
    """Evaluates formulas on one row of scaled columns."""

    def __init__(self, shared_nodes, row):
        self.shared_nodes, self.row, self.done = shared_nodes, row, {}

    def value(self, node):
        return getattr(self, node["op"])(node)

    def columns(self, node):
        return [self.row[j] for j in node["columns"]]

    def all_columns(self, node):
        return self.row[:node["count"]]

    def constant(self, node):
        return [node["value"]]

    def affine(self, node):
        values, offset = broadcast([self.value(node["of"]), node["offset"]])
        return [node["factor"] * v + o for v, o in zip(values, offset)]

    def sum(self, node):
        return [math.fsum(each) for each in zip(*broadcast([self.value(of) for of in node["of"]]))]

    def product(self, node):
        lists = broadcast([self.value(of) for of in node["of"]])
        result = lists[0]
        for values in lists[1:]:
            result = [single(a * b) for a, b in zip(result, values)]
        return result

    def less_than(self, node):
        return [1.0 if v < node["threshold"] else 0.0 for v in self.value(node["of"])]

    def squared_distance(self, node):
        return [math.fsum((v - p) ** 2 for v, p in zip(self.value(node["of"]), node["point"]))]

    def exp(self, node):
        return [math.exp(v) for v in self.value(node["of"])]

    def cos(self, node):
        return [math.cos(v) for v in self.value(node["of"])]

    def projection(self, node):
        values = self.value(node["of"])
        if node["centre"]:
            values = [v - c for v, c in zip(values, node["centre"])]
        result = [math.fsum(v * d for v, d in zip(values, direction)) for direction in node["directions"]]
        return [single(v) for v in result] if node["rounded"] else result

    def concatenation(self, node):
        return [v for of in node["of"] for v in self.value(of)]

    def template_maximum(self, node):
        return [template_maximum(node, self.value(node["of"])) / 255]

    def shared(self, node):
        index = node["index"]
        if index not in self.done:
            self.done[index] = self.value(self.shared_nodes[index])
        return self.done[index]


def pixels_of(node, values):
    """Step 1: grey values as integers 0..127, in float32 arithmetic."""
    factor = single(127 / single(node["high"] - node["low"]))
    return [int(clamp(single(single(single(v - node["low"]) * factor) + 0.5), 0, 127)) for v in values]


def deskewed(pixels, height, width):
    """Step 2: every row is shifted by the slant of the ink."""
    rows = [pixels[y * width:(y + 1) * width] for y in range(height)]
    ink = sum(map(sum, rows))
    along = [sum(x * p for x, p in enumerate(row)) for row in rows]
    slope, middle = 0.0, 0.0
    if ink > 0:
        sum_x, sum_y = sum(along), sum(y * sum(row) for y, row in enumerate(rows))
        sum_xy = sum(y * a for y, a in enumerate(along))
        sum_yy = sum(y * y * sum(row) for y, row in enumerate(rows))
        centre = sum_y / ink
        spread, lean = sum_yy - centre * sum_y, sum_xy - centre * sum_x
        if spread > 0:
            slope, middle = clamp(lean / spread, -1.0, 1.0), centre
    result = []
    for y, row in enumerate(rows):
        steps = math.floor(slope * (y - middle) * 128 + 0.5)
        whole, part = steps >> 7, steps & 127
        at = lambda x: row[x] if 0 <= x < width else 0
        result += [(at(x + whole) * (128 - part) + at(x + whole + 1) * part + 64) // 128 for x in range(width)]
    return result


def contrast(node, patch):
    """Step 3: the factor of a patch's contrast, 32767 is 1; float32 arithmetic on exact integers."""
    area = len(patch)
    spread = single(area * sum(p * p for p in patch) - sum(patch) ** 2)
    epsilon = single(node["contrast"])
    unit = 0.0
    if epsilon > 0:
        scale = single(single(single(single(area) * 127) * 127) * epsilon)
        unit = single(1 / single(scale * epsilon))
    root = single(math.sqrt(single(spread * unit + 1)))
    return int(single(single(32767 / root) + 0.5))


def fixed(a, b):
    """The product of two 15-bit fractions, rounded."""
    return (a * b + 16384) >> 15


def template_maximum(node, values):
    height, width, size = node["height"], node["width"], node["size"]
    pixels = pixels_of(node, values)
    if node["deskew"]:
        pixels = deskewed(pixels, height, width)
    best = 0
    for y, row_mask in enumerate(node["row_mask"]):
        for x, column_mask in enumerate(node["column_mask"]):
            patch = [pixels[(y + i) * width + x + j] for i in range(size) for j in range(size)]
            response = sum(p * w for p, w in zip(patch, node["template"]))
            factor = fixed(contrast(node, patch), row_mask)
            best = max(best, fixed(max(0, fixed(response, factor)), column_mask))
    return min(255, (best * node["multiplier"]) >> 16)
