// Reads the page's data, builds the panels, and lets all of them follow the chosen stage.
import type { Page } from "./data";
import { h, percent, short } from "./dom";
import { methodPanels } from "./methods";
import { mistakesPanel } from "./mistakes";
import { optimalityPanel } from "./optimality";
import { errorName, errorText, interval, isRegression, pathPanel, stageBar } from "./path";
import { sharingPanel } from "./sharing";

const page = JSON.parse(document.getElementById("data")!.textContent!) as Page;

function headline(s: number): string {
  const stage = page.stages[s];
  const with_ = `With ${short(stage.features)} feature${stage.features === 1 ? "" : "s"}`;
  if (!page.data) return `${with_} and ${short(stage.columnsRead)} columns read, ${page.outputs.length} ${page.outputsAre}.`;
  const { error, weight } = page.data.stages[s];
  if (isRegression(page)) return `${with_}, the ${errorName(page)} is ${short(error)} on ${short(page.data.rows)} rows.`;
  const [low, high] = interval(error, weight);
  return `${with_}, ${errorText(page, error)} of the answers are wrong (95% interval ${percent(low)} to ${percent(high)}).`;
}

const method = typeof page.metadata.method === "string" ? page.metadata.method : page.kind;
const summary = h("p", { class: "headline" });
const path = pathPanel(page);
const sharing = sharingPanel(page);
const mistakes = mistakesPanel(page);
const optimality = optimalityPanel(page);
const own = methodPanels(page);
let current = page.chosen;

const show = (s: number) => {
  current = s;
  summary.textContent = headline(s);
  for (const part of [bar, path, ...(page.weights ? [sharing] : []), mistakes, ...own, optimality]) part.show(s);
  document.documentElement.dataset.stage = String(s);
};

// A slider sends many events between two frames: only the last is drawn.
let waiting = 0;
const bar = stageBar(page, (s) => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => show(s));
});

const sections = [path, sharing, ...own.filter((p) => p.element.id === "templates"), mistakes, ...own.filter((p) => p.element.id !== "templates"), optimality].map((p) => p.element);
document.title = `${page.title} – sharelearn report`;
document.body.append(
  h("a", { class: "skip", href: "#main" }, "Skip to the figures"),
  h(
    "header",
    {},
    h("h1", {}, page.title),
    h("p", { class: "subtitle" }, `${method} · ${page.outputsAre === "value" ? "a number" : `${short(page.outputs.length)} ${page.outputsAre}`} · sharelearn ${page.version}`),
    summary,
    h("nav", { "aria-label": "Panels" }, ...sections.map((s) => h("a", { href: `#${s.id}` }, s.querySelector("h2")!.textContent))),
  ),
  bar.element,
  h("main", { id: "main" }, ...sections),
);
show(page.chosen);

let width = document.body.clientWidth;
addEventListener("resize", () => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  show(current);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(current));
document.documentElement.dataset.ready = "true";
