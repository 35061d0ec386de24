// How well each solution was solved, what it took, and how to repeat the run.
import { lineChart, type Point } from "./charts";
import { asNumber, type Json, type JsonObject, type Page } from "./data";
import { columnWidth, h, missing, panel, short, size, table } from "./dom";

const charts: [key: string, title: string, log: boolean][] = [
  ["gap", "Gap: bound on the distance to the optimum", true],
  ["gradient_norm", "Norm of the gradient (KKT residual)", true],
  ["expected_decrease", "What a further Newton step would gain", true],
  ["iterations", "Iterations of the solver", false],
  ["steps", "Steps of the solver", false],
];

function points(rounds: JsonObject[], key: string, log: boolean): Point[] {
  return rounds.flatMap((round, i) => {
    const y = asNumber(round[key]);
    return y === null || (log && y <= 0) ? [] : [{ x: asNumber(round.round) ?? i + 1, y }];
  });
}

/** Seconds of each round: the report counts from the start. */
function secondsPerRound(rounds: JsonObject[]): Point[] {
  let before = 0;
  return points(rounds, "seconds", false).map(({ x, y }) => {
    const own = Math.max(0, y - before);
    before = y;
    return { x, y: own };
  });
}

const text = (value: Json): string => (Array.isArray(value) ? value.map(text).join(",") : typeof value === "object" ? JSON.stringify(value) : String(value));
const quoted = (value: string) => (/^[\w.,:+/-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`);

function command(method: string, options: JsonObject): string {
  const chosenByFolds = Boolean(options.phi);
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (value === null) return [];
    // Values that cross-validation chose stand in the report; given themselves, they leave nothing to choose.
    if (chosenByFolds && ["folds", "phi-scales", "anneal"].includes(name)) return [];
    if (typeof value === "boolean") return [value ? `--${name}` : `--no-${name}`];
    return [`--${name} ${quoted(text(value))}`];
  });
  return ["sharelearn", "fit", quoted(method), "TRAIN", ...words].join(" ");
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

export function optimalityPanel(page: Page): { element: HTMLElement; show: (s: number) => void } {
  const box = h("div", { class: "charts" });
  const element = panel("Optimality", "Was it solved well, and how can the run be repeated?", box);
  const rounds = page.fit?.rounds ?? [];
  if (!page.fit) element.append(missing("Gaps, KKT residuals, iterations, times and memory are missing: give --fit REPORT.json, the file of fit --report."));
  else {
    const facts = [
      ["Seconds", asNumber(page.fit.seconds), short],
      ["Peak memory", asNumber(page.fit.peak_bytes), size],
      ["Candidates", asNumber(page.fit.candidates), short],
      ["Largest lambda", asNumber(page.fit.lambda_max), short],
    ] as const;
    const shown = facts.flatMap(([name, value, show]) => (value === null ? [] : [h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, h("strong", {}, show(value))))]));
    element.insertBefore(h("dl", { class: "tiles" }, ...shown), box);
    if (typeof page.fit.stop === "string") element.insertBefore(h("p", {}, `It ended because: ${page.fit.stop}.`), box);
  }
  const options = page.fit && isObject(page.fit.options) ? page.fit.options : isObject(page.metadata.options) ? page.metadata.options : {};
  const method = typeof page.metadata.method === "string" ? page.metadata.method : "METHOD";
  const rows = Object.entries(options).filter(([, value]) => value !== null).map(([name, value]) => [name, text(value)]);
  if (rows.length) {
    element.append(
      h("h3", {}, "The command that repeats the run"),
      h("p", {}, "TRAIN stands for the training data, with the options on how it is read (such as --label-column)."),
      h("pre", { tabindex: 0, "aria-label": "Command" }, command(method, options)),
      h("details", {}, h("summary", {}, `Options in effect (${rows.length})`), table(`sharelearn ${page.version}`, ["Option", "Value"], rows)),
    );
  }
  const show = (s: number) => {
    const wide = Math.max(300, box.clientWidth || 640);
    const width = columnWidth(wide, 310);
    // A round makes a stage; a path that begins without features has one stage more than rounds.
    const at = page.stages[s].number + 1 - Math.max(0, page.stageCount - rounds.length);
    const add = (title: string, y: string, found: Point[], logY: boolean) =>
      lineChart({ label: title, x: "round", y, series: [{ name: title, colour: "series-5", points: found }], logY, wholeX: rounds.length <= 10, at, width, height: 200 });
    const all = charts.flatMap(([key, title, log]) => {
      const found = points(rounds, key, log);
      return found.length > 1 ? [add(title, key.replaceAll("_", " "), found, log)] : [];
    });
    const seconds = secondsPerRound(rounds);
    if (seconds.length > 1) all.push(add("Seconds per round", "seconds", seconds, false));
    box.replaceChildren(...all);
  };
  return { element, show };
}
