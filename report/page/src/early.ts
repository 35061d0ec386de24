// Predictions that stop early: where they stop, what that costs, and what it saves.
import { lineChart } from "./charts";
import type { Early, EarlyStep, Page } from "./data";
import { bar, columnWidth, h, missing, panel, percent, short, table, tile } from "./dom";

type Shown = { element: HTMLElement; show: (s: number) => void };
type Judged = Required<Omit<EarlyStep, "threshold">>;

/** The steps with what they answered; null without labelled data. */
function judged(early: Early): Judged[] | null {
  return early.steps.every((step) => step.answered !== undefined) ? (early.steps as Judged[]) : null;
}

interface Totals {
  rows: number;
  error: number;
  fullError: number;
  different: number;
  features: number;
  multiplyAdds: number;
}

function totals(steps: Judged[]): Totals {
  const sum = (of: (step: Judged) => number) => steps.reduce((all, step) => all + of(step), 0);
  const rows = sum((s) => s.answered);
  const mean = (of: (step: Judged) => number) => sum(of) / rows;
  return {
    rows,
    error: mean((s) => s.wrong),
    fullError: mean((s) => s.wrongIfFull),
    different: mean((s) => s.different),
    features: mean((s) => s.answered * s.features),
    multiplyAdds: mean((s) => s.answered * s.multiplyAdds),
  };
}

function tiles(early: Early, all: Totals): HTMLElement {
  return h(
    "dl",
    { class: "tiles" },
    tile(short(all.features), "features computed on average", `instead of ${short(early.full.features)}`),
    tile(short(all.multiplyAdds), "multiply-adds on average", `instead of ${short(early.full.multiplyAdds)}`),
    tile(percent(all.error, 2), "error, stopping early", `${percent(all.fullError, 2)} with all features`),
    tile(percent(all.different, 2), "answers that differ", `from those with all features; ${percent(early.disagreement, 2)} were allowed`),
  );
}

function stepTable(early: Early, steps: Judged[] | null): HTMLElement {
  const rows = steps?.reduce((sum, step) => sum + step.answered, 0) ?? 0;
  const share = (part: number, whole: number) => (whole > 0 ? percent(part / whole, 2) : "–");
  return table(
    "Checkpoints: an answer is final where its margin, the lead over the second best score, exceeds the threshold",
    ["Features", "Columns read", "Multiply-adds", "Margin above", ...(steps ? ["Answered here", "Error of these", "With all features"] : [])],
    early.steps.map((step, i) => {
      const cells = [short(step.features), short(step.columns), short(step.multiplyAdds), step.threshold === undefined ? "any" : short(step.threshold)];
      if (!steps) return cells;
      const { answered, wrong, wrongIfFull } = steps[i];
      return [...cells, bar(answered / rows, percent(answered / rows)), share(wrong, answered), share(wrongIfFull, answered)];
    }),
    [1, 2, 3, 5, 6],
  );
}

/** Share of the rows that are answered by then. */
function answeredChart(steps: Judged[], rows: number, width: number, at: number): HTMLElement {
  let sum = 0;
  const points = steps.map((step) => ({ x: step.features, y: (sum += step.answered) / rows }));
  return lineChart({ label: "Rows answered so far", x: "features computed", y: "share of the rows", percentY: true, series: [{ name: "answered", colour: "series-4", points }], at, width });
}

/** The rule beside models of fewer features that never stop early. */
function errorChart(page: Page, all: Totals, width: number, at: number): HTMLElement {
  const path = page.data!.stages.map((stage, s) => ({ x: page.stages[s].features, y: stage.error })).sort((a, b) => a.x - b.x);
  return lineChart({
    label: "Error against features computed",
    x: "features computed, mean",
    y: "error",
    percentY: true,
    error: true,
    series: [
      { name: "every row with the same features", colour: "series-5", points: path },
      { name: "stopping early", colour: "series-3", points: [{ x: all.features, y: all.error }] },
    ],
    at,
    width,
  });
}

export function earlyPanel(page: Page): Shown {
  const early = page.early!;
  const steps = judged(early);
  const charts = h("div", { class: "charts" });
  const words = h("p", {});
  const element = panel("Early stop", "How many features does a prediction need, if it may stop as soon as its answer is safe?");
  const promise = `Fitted on ${short(early.rows)} rows that were not trained on: with confidence ${percent(early.confidence, 0)}, at most ${percent(early.upperBound, 2)} of the answers differ from those with all ${short(early.full.features)} features.`;
  if (early.steps.length < 2) element.append(h("p", {}, "No rule kept the bound: every prediction computes all features."));
  if (steps) element.append(tiles(early, totals(steps)));
  element.append(h("p", {}, promise), words, charts, stepTable(early, steps));
  if (!steps) element.append(missing("How many rows each checkpoint answers, and how well, is missing: give --data FILE."));
  const show = (s: number) => {
    if (!steps) return;
    const all = totals(steps);
    const { features } = page.stages[s];
    words.textContent = `Without stopping, ${short(features)} feature${features === 1 ? "" : "s"} for every row give an error of ${percent(page.data!.stages[s].error, 2)}; stopping early gives ${percent(all.error, 2)} with ${short(all.features)} on average.`;
    const width = columnWidth(Math.max(300, charts.clientWidth || 640), 380);
    charts.replaceChildren(errorChart(page, all, width, features), answeredChart(steps, all.rows, width, features));
  };
  return { element, show };
}
