// Draw a digit: strokes become an image as MNIST's were made, the exported model (digits.js) reads it.
"use strict";

const kPad = 280; // pixels of the drawing area
const kSide = 28; // of the image
const kBox = 20; // the ink fits into a square of this size
const kPen = 1.15; // half the width of a stroke, in pixels of the image
const kPenOnPad = 22; // width of a stroke while it is drawn

/** Strokes of sample digits: lists of points in a square of 100. */
const samples = {
  0: [[[50, 8], [30, 18], [22, 45], [28, 78], [48, 92], [70, 80], [78, 50], [70, 20], [50, 8]]],
  1: [[[40, 24], [54, 8], [52, 50], [50, 92]]],
  2: [[[24, 30], [36, 12], [58, 8], [74, 22], [68, 44], [46, 66], [22, 90], [50, 88], [80, 88]]],
  3: [[[26, 16], [50, 8], [72, 20], [66, 40], [44, 48], [68, 56], [76, 74], [58, 90], [24, 84]]],
  4: [[[36, 10], [30, 34], [24, 56], [50, 56], [78, 54]], [[68, 12], [66, 50], [62, 92]]],
  5: [[[74, 10], [36, 10], [32, 44], [54, 40], [72, 54], [72, 76], [52, 92], [26, 84]]],
  6: [[[62, 8], [40, 28], [28, 58], [34, 84], [54, 92], [70, 78], [66, 60], [48, 56], [32, 68]]],
  7: [[[22, 14], [50, 12], [76, 12], [62, 42], [50, 66], [42, 92]]],
  8: [[[66, 20], [48, 8], [32, 22], [44, 42], [64, 58], [70, 78], [50, 92], [32, 78], [40, 58], [62, 42], [66, 20]]],
  9: [[[70, 26], [54, 10], [34, 20], [34, 42], [54, 48], [70, 30], [68, 60], [58, 92]]],
};

let strokes = []; // lists of [x, y] on the pad

/** Distance of a point to the segment from a to b. */
function distance(x, y, [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}

/** Ink of lines drawn with a round pen: 0 to 255, with soft edges. */
function render(lines) {
  const image = new Float64Array(kSide * kSide);
  for (const line of lines) {
    line.forEach((to, i) => {
      const from = line[Math.max(0, i - 1)];
      const reach = kPen + 1;
      const range = (a, b) => [Math.max(0, Math.floor(Math.min(a, b) - reach)), Math.min(kSide - 1, Math.ceil(Math.max(a, b) + reach))];
      const [[left, right], [top, bottom]] = [range(from[0], to[0]), range(from[1], to[1])];
      for (let y = top; y <= bottom; ++y) {
        for (let x = left; x <= right; ++x) {
          const ink = Math.max(0, Math.min(1, kPen + 0.5 - distance(x, y, from, to)));
          image[y * kSide + x] = Math.max(image[y * kSide + x], Math.round(255 * ink));
        }
      }
    });
  }
  return image;
}

/** The strokes as MNIST's digits: scaled to a box of 20 x 20, their centre of mass in the middle of 28 x 28. */
function imageOf(lines) {
  const points = lines.flat();
  const ends = (at) => [Math.min(...points.map((p) => p[at])), Math.max(...points.map((p) => p[at]))];
  const [[left, right], [top, bottom]] = [ends(0), ends(1)];
  const scale = (kBox - 2 * kPen) / Math.max(right - left, bottom - top, kPad / 10);
  const middle = kSide / 2;
  const placed = (dx, dy) => lines.map((line) => line.map(([x, y]) => [(x - (left + right) / 2) * scale + middle + dx, (y - (top + bottom) / 2) * scale + middle + dy]));
  const first = render(placed(0, 0));
  let [mass, sumX, sumY] = [0, 0, 0];
  first.forEach((ink, p) => {
    mass += ink;
    sumX += ink * (p % kSide);
    sumY += ink * Math.floor(p / kSide);
  });
  return mass === 0 ? first : render(placed(middle - sumX / mass, middle - sumY / mass));
}

const element = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function make(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children);
  return made;
}

/** Fills a canvas pixel by pixel. */
function paint(canvas, width, height, pixel) {
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  for (let p = 0; p < width * height; ++p) picture.data.set([...pixel(p % width, Math.floor(p / width)), 255], 4 * p);
  context.putImageData(picture, 0, 0);
}

const mixed = (from, to, share) => from.map((v, c) => v + (to[c] - v) * share);

/** A template in the middle of the place where it may lie. */
function templatePicture({ formula: t }, label) {
  const [ground, shade, plus, minus] = ["ground", "line", "plus", "minus"].map((name) => rgb(colour(name)));
  const largest = Math.max(...t.template.map(Math.abs), 1);
  const peak = (mask) => mask.indexOf(Math.max(...mask));
  const [top, left] = [peak(t.row_mask), peak(t.column_mask)];
  const seen = (mask, i) => mask[Math.max(0, Math.min(mask.length - 1, i - Math.floor(t.size / 2)))] / Math.max(...mask, 1);
  const canvas = make("canvas", "");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  paint(canvas, t.width, t.height, (x, y) => {
    const [u, v] = [x - left, y - top];
    if (u < 0 || v < 0 || u >= t.size || v >= t.size) return mixed(ground, shade, seen(t.row_mask, y) * seen(t.column_mask, x));
    const weight = t.template[v * t.size + u] / largest;
    return mixed(ground, weight > 0 ? plus : minus, Math.abs(weight));
  });
  return canvas;
}

function bar(share) {
  const fill = make("span", "fill");
  fill.style.width = `${100 * share}%`;
  return make("span", "track", fill);
}

/** Features known at each checkpoint; the last are all. */
const checkpoints = [...digits.model.early.checkpoints.map((point) => point.features), digits.model.features.length];

function showStop(result) {
  const count = result ? result.features.length : 0;
  element("stop").textContent = result
    ? result.checkpoint < checkpoints.length - 1
      ? `Stopped after ${count} of ${checkpoints.at(-1)} templates: the lead over the second best answer was large enough.`
      : `No early stop: all ${checkpoints.at(-1)} templates were computed.`
    : "Draw a digit in the field.";
  element("checkpoints").replaceChildren(
    ...checkpoints.map((features, i) => {
      const final = result?.checkpoint === i;
      const state = final ? "final" : result && i < result.checkpoint ? "passed" : "";
      return make("li", state, final ? `${features}: stop` : result && i < result.checkpoint ? `${features}: go on` : String(features));
    }),
  );
}

function showProbabilities(proba) {
  const best = proba ? proba.indexOf(Math.max(...proba)) : -1;
  element("probabilities").tBodies[0].replaceChildren(
    ...digits.names.map((name, c) => {
      const head = make("th", "", name);
      head.scope = "row";
      const share = proba ? proba[c] : 0;
      return make("tr", c === best ? "best" : "", head, make("td", "", bar(share)), make("td", "number", proba ? `${(100 * share).toFixed(1)}%` : ""));
    }),
  );
}

function showTemplates(features, response) {
  element("templates").replaceChildren(
    ...features.map((feature, i) => {
      const fit = response(feature);
      return make("li", "", templatePicture(feature, `Template ${i + 1}`), bar(fit), `${i + 1}: ${(100 * fit).toFixed(0)}%`);
    }),
  );
}

/** Reads the drawing and shows everything. */
function show() {
  const empty = strokes.length === 0;
  const image = empty ? new Float64Array(kSide * kSide) : imageOf(strokes);
  paint(element("seen"), kSide, kSide, (x, y) => Array(3).fill(image[y * kSide + x]));
  const result = empty ? null : digits.predictEarly(image);
  element("answer").textContent = result ? result.answer : "–";
  showStop(result);
  showProbabilities(empty ? null : digits.proba(image));
  showTemplates(result ? result.features : [], digits.responses(image));
}

let waiting = 0;
function showSoon() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(show);
}

function drawPad() {
  const context = element("pad").getContext("2d");
  context.clearRect(0, 0, kPad, kPad);
  Object.assign(context, { strokeStyle: "#fff", lineWidth: kPenOnPad, lineCap: "round", lineJoin: "round" });
  for (const line of strokes) {
    context.beginPath();
    context.moveTo(...line[0]);
    for (const point of line) context.lineTo(...point);
    context.stroke();
  }
}

function changed() {
  drawPad();
  showSoon();
}

function listen() {
  const pad = element("pad");
  const place = (event) => {
    const box = pad.getBoundingClientRect();
    return [((event.clientX - box.left) * kPad) / box.width, ((event.clientY - box.top) * kPad) / box.height];
  };
  let drawing = null; // the stroke of the pointer that is down
  pad.addEventListener("pointerdown", (event) => {
    if (drawing || event.button !== 0) return;
    pad.setPointerCapture(event.pointerId);
    drawing = { pointer: event.pointerId, line: [place(event)] };
    strokes.push(drawing.line);
    element("sample").value = "";
    changed();
  });
  pad.addEventListener("pointermove", (event) => {
    if (drawing?.pointer !== event.pointerId) return;
    drawing.line.push(place(event));
    changed();
  });
  for (const end of ["pointerup", "pointercancel"]) pad.addEventListener(end, (event) => (drawing = drawing?.pointer === event.pointerId ? null : drawing));
  element("clear").addEventListener("click", () => {
    strokes = [];
    element("sample").value = "";
    changed();
  });
  for (const name of Object.keys(samples)) element("sample").append(make("option", "", name));
  element("sample").addEventListener("change", ({ target }) => {
    strokes = target.value === "" ? [] : samples[target.value].map((line) => line.map(([x, y]) => [(x * kPad) / 100, (y * kPad) / 100]));
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showSoon);
}

listen();
show();
