// Where the model fails: confusions with the rows behind them, classes one by one, reliability, confident mistakes.
import * as Plot from "@observablehq/plot";
import { describe, lineChart } from "./charts";
import { type Cell, cellsOf, type Example, examplesAt, float32, type OnData, type Page } from "./data";
import { bar, h, missing, panel, percent, shortened, short, table } from "./dom";
import { kBeside, Matrix } from "./matrix";
import { rowPicture } from "./pictures";

type Shown = { element: HTMLElement; show: (s: number) => void };

const kCards = 12;

/** A card per example: what it is, the truth and the answer. */
function cards(page: Page, data: OnData): (examples: Example[]) => HTMLElement {
  const source = data.examples;
  const picture = source.image ? rowPicture(source) : null;
  const values = source.values ? float32(source.values) : null;
  const nameOf = (e: Example, value: number) => {
    if (page.outputsAre === "value") return short(value);
    if (page.outputsAre === "tasks") return value > 0 ? "yes" : "no";
    return page.outputs[value] ?? source.labels?.[e.index] ?? "unknown class";
  };
  const certainty = (e: Example) => {
    if (page.outputsAre === "value") return `off by ${short(e.strength)}`;
    return data.probabilities ? percent(e.strength, 0) : `lead ${short(e.strength)}`;
  };
  const contents = (e: Example): HTMLElement => {
    if (picture) return picture(e.index, `Row ${e.row + 1}, ${nameOf(e, e.truth)}`);
    const pairs: [string, number][] = [];
    if (source.sparse) {
      const flat = source.sparse[e.index];
      for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([String(flat[i]), Number(flat[i + 1])]);
    } else if (values && source.columns) {
      source.columns.forEach((name, c) => pairs.push([name, values[e.index * source.columns!.length + c]]));
    }
    return h("dl", { class: "values" }, ...pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, short(value))]));
  };
  return (examples) =>
    h(
      "ul",
      { class: "cards" },
      ...examples.slice(0, kCards).map((e) =>
        h(
          "li",
          { class: "card" },
          contents(e),
          h("p", {}, h("b", {}, nameOf(e, e.truth)), " read as ", h("b", {}, nameOf(e, e.predicted)), ` (${certainty(e)})`),
          h("small", {}, page.outputsAre === "tasks" ? `row ${e.row + 1}, task ${page.outputs[e.task]}` : `row ${e.row + 1}`),
        ),
      ),
    );
}

interface ClassLine {
  output: number;
  truth: number; // weight of its rows
  right: number;
  predicted: number;
}

/** Counts of each class or task. A task's cells are 2 x truth + prediction. */
function classLines(page: Page, cells: Cell[]): ClassLine[] {
  const lines = page.outputs.map((_, output) => ({ output, truth: 0, right: 0, predicted: 0 }));
  const tasks = page.outputsAre === "tasks";
  for (const { truth, predicted, weight } of cells) {
    if (tasks) {
      const line = lines[truth];
      line.truth += predicted >= 2 ? weight : 0;
      line.predicted += predicted % 2 ? weight : 0;
      line.right += predicted === 3 ? weight : 0;
      continue;
    }
    lines[predicted].predicted += weight;
    if (truth >= lines.length) continue;
    lines[truth].truth += weight;
    if (truth === predicted) lines[truth].right += weight;
  }
  return lines;
}

function classTable(page: Page, lines: ClassLine[]): HTMLElement {
  const share = (part: number, whole: number) => (whole > 0 ? part / whole : NaN);
  const cell = (x: number) => (Number.isNaN(x) ? "–" : bar(x, percent(x, 1)));
  const f1 = (l: ClassLine) => share(2 * l.right, l.truth + l.predicted);
  const seen = lines.filter((l) => l.truth + l.predicted > 0);
  const sorted = seen.sort((a, b) => (f1(a) || 0) - (f1(b) || 0));
  const yes = page.outputsAre === "tasks";
  return shortened(sorted, 12, (some) =>
    table(
      `${yes ? "Tasks" : "Classes"}, the worst first. Precision: of what it calls so, how much is so. Recall: of what is so, how much it finds.`,
      [yes ? "Task" : "Class", yes ? "Rows that are so" : "Rows", "Precision", "Recall"],
      some.map((l) => [page.outputs[l.output], short(l.truth), cell(share(l.right, l.predicted)), cell(share(l.right, l.truth))]),
      [1],
    ),
  );
}

function reliability(bins: [number, number, number][], width: number): HTMLElement {
  const points = bins.filter(([weight]) => weight > 0).map(([weight, confidence, right]) => ({ x: confidence / weight, y: right / weight, weight }));
  const total = points.reduce((sum, p) => sum + p.weight, 0);
  const gap = points.reduce((sum, p) => sum + (p.weight / total) * Math.abs(p.x - p.y), 0);
  const chart = lineChart({
    label: `Reliability: how often it is right when it says so (mean distance ${percent(gap)})`,
    x: "probability it gives (dot: share of the rows)",
    y: "share that is right",
    series: [{ name: "answers", colour: "series-5", points }],
    diagonal: true,
    percentY: true,
    width: Math.min(width, 380),
    height: 300,
  });
  return chart;
}

const kKinds = ["rightly no", "wrongly yes", "wrongly no", "rightly yes"]; // 2 x truth + prediction of a task

/** The answers of one stage as a matrix: classes x classes, or tasks x kinds of answers. */
class Answers {
  readonly cells: Cell[];
  readonly rows: number[];
  readonly columns: number[];
  private readonly tasks: boolean;
  private readonly width: number;
  private readonly ofTruth = new Map<number, number>();
  private readonly weight = new Map<number, number>();

  constructor(
    private readonly page: Page,
    data: OnData,
    stage: number,
  ) {
    this.cells = cellsOf(data.stages[stage]);
    this.tasks = page.outputsAre === "tasks";
    this.width = this.tasks ? kKinds.length : page.outputs.length;
    for (const c of this.cells) {
      this.ofTruth.set(c.truth, (this.ofTruth.get(c.truth) ?? 0) + c.weight);
      this.weight.set(c.truth * this.width + c.predicted, c.weight);
    }
    const unknown = !this.tasks && this.ofTruth.has(page.outputs.length);
    const order = this.tasks ? page.outputs.map((_, i) => i) : page.order.outputs;
    this.rows = unknown ? [...order, page.outputs.length] : order;
    this.columns = this.tasks ? [1, 2, 0, 3] : order;
  }

  name = (output: number) => this.page.outputs[output] ?? "unknown class";
  columnName = (predicted: number) => (this.tasks ? kKinds[predicted] : this.name(predicted));
  isRight = (c: { truth: number; predicted: number }) => (this.tasks ? c.predicted === 0 || c.predicted === 3 : c.truth === c.predicted);
  count = (truth: number, predicted: number) => this.weight.get(truth * this.width + predicted) ?? 0;

  words(truth: number, predicted: number): string {
    const count = short(this.count(truth, predicted));
    if (this.tasks) return `${this.name(truth)}, ${kKinds[predicted]}: ${count} rows`;
    return `${this.name(truth)} read as ${this.name(predicted)}: ${count} of ${short(this.ofTruth.get(truth) ?? 0)} rows`;
  }

  tint(truth: number, predicted: number): number {
    const found = this.count(truth, predicted);
    return found === 0 ? 0 : (this.isRight({ truth, predicted }) ? -1 : 1) * Math.sqrt(found / this.ofTruth.get(truth)!);
  }

  /** The examples behind a cell, the most confident first. */
  behind(examples: Example[], truth: number, predicted: number): Example[] {
    const inCell = (e: Example) => (this.tasks ? e.task === truth && 2 * e.truth + e.predicted === predicted : e.truth === truth && e.predicted === predicted);
    return examples.filter(inCell).sort((a, b) => b.strength - a.strength);
  }
}

function showAnswers(matrix: Matrix, answers: Answers, pick: (truth: number, predicted: number) => void): void {
  const { rows, columns } = answers;
  const mark = (count: number) => (count ? short(count) : "");
  matrix.show({
    rows: rows.map(answers.name),
    columns: columns.map(answers.columnName),
    tint: (r, c) => answers.tint(rows[r], columns[c]),
    mark: (r, c) => mark(answers.count(rows[r], columns[c])),
    words: (r, c) => answers.words(rows[r], columns[c]),
    pick: (r, c) => pick(rows[r], columns[c]),
  });
}

/** The largest wrong cells as buttons: the same as a click on the matrix. */
function frequentMistakes(answers: Answers, pick: (truth: number, predicted: number) => void): HTMLElement {
  const wrong = answers.cells.filter((c) => !answers.isRight(c)).sort((a, b) => b.weight - a.weight);
  const button = ({ truth, predicted }: Cell) => h("button", { type: "button", click: () => pick(truth, predicted) }, answers.words(truth, predicted));
  const list = h("ol", { class: "confusions" }, ...wrong.slice(0, 8).map((c) => h("li", {}, button(c))));
  return h("div", {}, h("h3", {}, "Most frequent mistakes"), wrong.length ? list : h("p", {}, "There are none at this stage."));
}

/** Everything that follows the labelled data of classes and tasks. */
function outcomes(page: Page, data: OnData, element: HTMLElement): Shown {
  const tasks = page.outputsAre === "tasks";
  const matrix = new Matrix(tasks ? "Answers per task" : "Confusion matrix", 620, !tasks);
  const behind = h("div", { class: "behind", "aria-live": "polite" });
  const [side, classes, confident] = [h("div", {}), h("div", {}), h("div", {})];
  element.append(
    h("p", {}, `${tasks ? "" : "Rows are the true classes, columns the answers. "}Choose a cell to see rows behind it.`),
    h("div", { class: page.outputs.length > kBeside && !tasks ? "beside wide" : "beside" }, h("div", {}, matrix.element, behind, classes), side),
    h("h3", {}, "Most confident mistakes"),
    confident,
  );
  const at = examplesAt(data.examples);
  const card = cards(page, data);
  let current: [number, number] | null = null;
  const show = (s: number) => {
    const answers = new Answers(page, data, s);
    const examples = at(s);
    const pick = (truth: number, predicted: number) => {
      current = [truth, predicted];
      const found = answers.behind(examples, truth, predicted);
      const [shown, total] = [Math.min(kCards, found.length), answers.count(truth, predicted)];
      const note = total === 0 ? "No rows." : shown < total ? `${shown} of its rows are shown.` : "";
      behind.replaceChildren(h("h3", {}, answers.words(truth, predicted)), note ? h("p", {}, note) : "", card(found));
    };
    showAnswers(matrix, answers, pick);
    const goTo = (truth: number, predicted: number) => {
      matrix.goTo(answers.rows.indexOf(truth), answers.columns.indexOf(predicted));
      pick(truth, predicted);
    };
    const bins = data.stages[s].bins;
    const trust = bins ? reliability(bins, 360) : missing("The scores of this model give no probabilities, so there is no reliability diagram.");
    side.replaceChildren(frequentMistakes(answers, goTo), trust);
    classes.replaceChildren(classTable(page, classLines(page, answers.cells)));
    const mistakes = examples.filter((e) => e.truth !== e.predicted).sort((a, b) => b.strength - a.strength);
    confident.replaceChildren(mistakes.length ? card(mistakes) : h("p", {}, "There are none at this stage."));
    if (current) pick(...current);
  };
  return { element, show };
}

/** A regression: predictions against the truth, and the largest errors. */
function residuals(page: Page, data: OnData, element: HTMLElement): Shown {
  const chart = h("div", {});
  const worst = h("div", {});
  element.append(chart, h("h3", {}, "Largest errors"), worst);
  const at = examplesAt(data.examples);
  const card = cards(page, data);
  const show = (s: number) => {
    const examples = at(s);
    const all = examples.flatMap((e) => [e.truth, e.predicted]);
    const ends: [number, number] = [Math.min(...all), Math.max(...all)];
    const plot = Plot.plot({
      width: 420,
      height: 400,
      style: { background: "transparent", fontSize: "12px", fontFamily: "inherit" },
      x: { label: "true value", domain: ends },
      y: { label: "prediction", domain: ends, grid: true },
      marks: [Plot.line([[ends[0], ends[0]], [ends[1], ends[1]]], { stroke: "var(--muted)", strokeDasharray: "4,4" }), Plot.dot(examples, { x: "truth", y: "predicted", fill: "var(--series-5)", fillOpacity: 0.6, r: 3 })],
    });
    describe(plot, "Predictions against true values");
    chart.replaceChildren(h("figure", {}, h("figcaption", {}, `Predictions against true values, ${examples.length} rows`), plot));
    worst.replaceChildren(card([...examples].sort((a, b) => b.strength - a.strength)));
  };
  return { element, show };
}

export function mistakesPanel(page: Page): Shown {
  const element = panel("Mistakes", "Where does it fail, and can its answers be trusted?");
  if (page.data) {
    element.append(h("p", {}, `On ${page.data.source.split("/").pop()}, ${short(page.data.rows)} rows.`));
    return (page.outputsAre === "value" ? residuals : outcomes)(page, page.data, element);
  }
  element.append(missing("Confusions, precision and recall, reliability and examples are missing: give --data FILE with labelled rows that were not trained on."));
  return { element, show: () => {} };
}
