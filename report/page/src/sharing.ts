// Who shares what: the matrix of features and classes, and the features one by one.
import { float32, int16, type Page } from "./data";
import { bar, h, missing, panel, percent, shortened, short, signed, table } from "./dom";
import { kBeside, Matrix } from "./matrix";
import { errorName, isRegression } from "./path";
import { pixelMap, templatePicture } from "./pictures";

export interface StageWeights {
  features: number[];
  value: (row: number, output: number) => number;
  largest: Float32Array; // of each row
}

export function weightsAt(page: Page, s: number): StageWeights {
  const w = page.weights[s];
  const scale = float32(w.scale);
  const values = int16(w.values);
  const k = page.outputs.length;
  return { features: w.features, value: (row, output) => values[row * k + output] * scale[row], largest: scale.map((x) => x * 32767) };
}

interface FeatureLine {
  feature: number;
  row: number;
  users: number;
  strength: number;
  moreError: number | null;
  moreLoss: number | null;
}

function featureLines(page: Page, s: number, weights: StageWeights): FeatureLine[] {
  const costs = page.data?.stages[s].costs;
  const [error, loss] = costs ? [float32(costs.error), float32(costs.loss)] : [null, null];
  return weights.features.map((feature, row) => {
    let users = 0;
    for (let c = 0; c < page.outputs.length; ++c) users += weights.value(row, c) !== 0 ? 1 : 0;
    const finite = (values: Float32Array | null) => (values && Number.isFinite(values[row]) ? values[row] : null);
    return { feature, row, users, strength: weights.largest[row], moreError: finite(error), moreLoss: finite(loss) };
  });
}

function featureTable(page: Page, s: number, lines: FeatureLine[]): HTMLElement {
  const importance = (l: FeatureLine) => l.moreLoss ?? l.moreError ?? l.strength;
  const sorted = [...lines].sort((a, b) => importance(b) - importance(a));
  const top = Math.max(...sorted.map(importance), 1e-12);
  const percentError = (x: number) => (isRegression(page) ? short(x) : `${(100 * x).toFixed(1)} points`);
  const costs = page.data?.stages[s].costs;
  const ordered = page.axis !== "none";
  const counted = sorted.some((l) => l.users < page.outputs.length); // else the text above says that all are served
  const head = ["Feature", ...(ordered ? ["Order"] : []), ...(counted ? [page.outputsAre === "tasks" ? "Tasks" : "Classes"] : []), "Largest weight"];
  if (costs) head.push(`Without it: ${errorName(page)}`);
  if (costs && sorted.some((l) => l.moreLoss !== null)) head.push("Without it: log loss");
  const caption = costs
    ? `What losing a feature would cost: it is replaced by its mean on ${costs.rows} rows, nothing is trained again.`
    : "Features by their largest weight.";
  return shortened(sorted, 12, (some) =>
    table(
      caption,
      head,
      some.map((line) => {
        const feature = page.features[line.feature];
        const name = h("span", { class: "feature" }, feature.template ? templatePicture(feature.template, feature.text, 44) : null, feature.text);
        const cells: (HTMLElement | string)[] = [name, ...(ordered ? [String(line.feature + 1)] : []), ...(counted ? [String(line.users)] : [])];
        cells.push(costs ? short(line.strength) : bar(line.strength / top, short(line.strength)));
        if (line.moreError !== null) cells.push(line.moreLoss === null ? bar(line.moreError / top, signed(line.moreError, percentError)) : signed(line.moreError, percentError));
        if (line.moreLoss !== null) cells.push(bar(line.moreLoss / top, signed(line.moreLoss, short)));
        return cells;
      }),
      head.flatMap((name, i) => (["Order", "Tasks", "Classes"].includes(name) || (costs && i > 0 && !head[i].endsWith("log loss")) ? [i] : [])),
    ),
  );
}

function users(page: Page, lines: FeatureLine[]): string {
  if (!lines.length) return "No feature is used at this stage.";
  const k = page.outputs.length;
  const what = page.outputsAre === "tasks" ? "tasks" : "classes";
  const all = lines.filter((l) => l.users === k).length;
  const shown = `${lines.length} feature${lines.length === 1 ? "" : "s"} shown`;
  if (all === lines.length) return `${shown}; each serves all ${k} ${what}.`;
  const mean = lines.reduce((sum, l) => sum + l.users, 0) / lines.length;
  return `${shown}; ${percent(all / lines.length, 0)} of them serve all ${k} ${what}, a feature serves ${short(mean)} ${what} on average.`;
}

function pixels(page: Page, weights: StageWeights): HTMLElement | null {
  const columns = weights.features.flatMap((f) => page.features[f].columns ?? []);
  if (!page.imageWidth || !columns.length || page.columns % page.imageWidth) return null;
  const map = pixelMap(columns, page.columns, page.imageWidth, `${columns.length} of ${page.columns} pixels are read`);
  return h("figure", { class: "pixel-map" }, h("figcaption", {}, "Pixels read, the first chosen strongest"), map);
}

export function sharingPanel(page: Page): { element: HTMLElement; show: (s: number) => void } {
  const what = page.outputsAre === "tasks" ? "tasks" : "classes";
  const matrix = new Matrix(`Weights of features and ${what}`, 620);
  const words = h("p", {});
  const features = h("div", {});
  const map = h("div", {});
  const byBlocks = h("input", { type: "checkbox", id: "blocks", checked: true });
  const choice = h("label", { for: "blocks", class: "choice" }, byBlocks, " Similar rows and columns side by side");
  const key = h("p", { class: "key-line" }, h("span", { class: "swatch minus" }), " − lowers the score   ", h("span", { class: "swatch plus" }), " + raises it; strength relative to the feature's largest weight");
  const element = panel("Sharing", `Which ${what} share which features?`, words, choice, key, h("div", { class: page.outputs.length > kBeside ? "beside wide" : "beside" }, matrix.element, h("div", {}, map, features)));
  if (!page.features.length) element.append(missing("A model with kernels has no weights of single features to show."));
  if (!page.data) element.append(missing("What losing a feature would cost is missing: give --data FILE."));
  let stage = page.chosen;
  const show = (s: number) => {
    stage = s;
    const weights = weightsAt(page, s);
    const rowOf = new Map(weights.features.map((feature, row) => [feature, row]));
    const rows = byBlocks.checked ? page.order.features.flatMap((f) => rowOf.get(f) ?? []) : weights.features.map((_, row) => row);
    const columns = byBlocks.checked ? page.order.outputs : page.outputs.map((_, c) => c);
    matrix.show({
      rows: rows.map((row) => page.features[weights.features[row]].text),
      columns: columns.map((c) => page.outputs[c]),
      tint: (r, c) => weights.value(rows[r], columns[c]) / (weights.largest[rows[r]] || 1),
      mark: (r, c) => {
        const value = weights.value(rows[r], columns[c]);
        return Math.abs(value) < 0.1 * weights.largest[rows[r]] ? (value === 0 ? "" : "·") : value > 0 ? "+" : "−";
      },
      words: (r, c) => {
        const feature = page.features[weights.features[rows[r]]];
        const value = weights.value(rows[r], columns[c]);
        return `${feature.text}, ${page.outputs[columns[c]]}: ${feature.width ? "norm of the weights" : "weight"} ${short(value)}`;
      },
    });
    const lines = featureLines(page, s, weights);
    words.textContent = users(page, lines);
    features.replaceChildren(lines.length ? featureTable(page, s, lines) : "");
    map.replaceChildren(pixels(page, weights) ?? "");
  };
  byBlocks.addEventListener("change", () => show(stage));
  return { element, show };
}
