// Line charts with one look: series differ by colour, dash and a label at their end.
import * as Plot from "@observablehq/plot";
import { h } from "./dom";

export interface Point {
  x: number;
  y: number;
  low?: number;
  high?: number;
  weight?: number; // shown by the size of the dot
}

export interface Series {
  name: string;
  colour: string; // a custom property
  dash?: string;
  points: Point[];
}

export interface Chart {
  label: string; // for those who cannot see it
  x: string;
  y: string;
  series: Series[];
  logX?: boolean;
  reverseX?: boolean;
  logY?: boolean;
  percentY?: boolean;
  error?: boolean; // a share that falls far: small values get more room (0 stays 0)
  wholeX?: boolean; // few whole numbers
  at?: number; // a vertical rule
  diagonal?: boolean;
  width: number;
  height?: number;
}

function marks(chart: Chart): Plot.Markish[] {
  const result: Plot.Markish[] = [];
  for (const s of chart.series) {
    const stroke = `var(--${s.colour})`;
    const band = s.points.filter((p) => p.low !== undefined);
    if (band.length) result.push(Plot.areaY(band, { x: "x", y1: "low", y2: "high", fill: stroke, fillOpacity: 0.18 }));
    result.push(Plot.lineY(s.points, { x: "x", y: "y", stroke, strokeWidth: 2, strokeDasharray: s.dash ?? "none" }));
    const most = Math.max(...s.points.map((p) => p.weight ?? 0));
    const radius = (p: Point) => (p.weight ? 2 + 7 * Math.sqrt(p.weight / most) : s.points.length === 1 ? 4 : 2);
    if (s.points.length <= 60) result.push(Plot.dot(s.points, { x: "x", y: "y", fill: stroke, r: { value: radius, scale: null } as never }));
    result.push(
      Plot.tip(
        s.points,
        Plot.pointerX({ x: "x", y: "y", title: (p: Point) => `${s.name}\n${chart.x} ${format(p.x)}\n${chart.y} ${format(p.y, chart.percentY)}`, fill: "var(--ground)" }),
      ),
    );
  }
  if (chart.at !== undefined) result.unshift(Plot.ruleX([chart.at], { stroke: "var(--text)", strokeWidth: 1.5, strokeDasharray: "2,3" }));
  if (chart.diagonal) result.unshift(Plot.line([[0, 0], [1, 1]], { stroke: "var(--muted)", strokeDasharray: "4,4" }));
  return result;
}

const format = (x: number, isPercent = false) => (isPercent ? `${(100 * x).toPrecision(3)}%` : String(Number(x.toPrecision(4))));

/** A piece of the series' line, or its only dot. */
function key(s: Series): Element {
  const space = "http://www.w3.org/2000/svg";
  const single = s.points.length === 1;
  const [picture, line] = [document.createElementNS(space, "svg"), document.createElementNS(space, single ? "circle" : "line")];
  const shape = single ? { cx: 17, cy: 5, r: 4 } : { x1: 0, x2: 34, y1: 5, y2: 5, "stroke-width": 3, "stroke-dasharray": s.dash ?? "none" };
  for (const [name, value] of Object.entries(shape)) line.setAttribute(name, String(value));
  line.style.stroke = line.style.fill = `var(--${s.colour})`;
  for (const [name, value] of Object.entries({ class: "key", width: 34, height: 10, "aria-hidden": true })) picture.setAttribute(name, String(value));
  picture.append(line);
  return picture;
}

/** Names the series, as lines of their own look. */
function legend(series: Series[]): HTMLElement {
  return h(
    "ul",
    { class: "legend" },
    ...series.map((s) => h("li", {}, key(s), s.name)),
  );
}

/** Gives a plot one label for screen readers in place of the labels of its parts, which only name shapes. */
export function describe(plot: Element, label: string): void {
  for (const part of plot.querySelectorAll("g[aria-label]")) part.removeAttribute("aria-label");
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", label);
}

/** Ticks of a logarithmic axis: powers of ten, at most five; where there are fewer than two, the library's choice. */
function powersOfTen(values: number[]): number[] | number {
  const [low, high] = [Math.ceil(Math.log10(Math.min(...values))), Math.floor(Math.log10(Math.max(...values)))];
  if (high <= low) return 4;
  const step = Math.ceil((high - low) / 4);
  return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => 10 ** (low + i * step));
}

const kErrorTicks = [0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9];

export function lineChart(chart: Chart): HTMLElement {
  const series = chart.series.filter((s) => s.points.length);
  const values = series.flatMap((s) => s.points.flatMap((p) => [p.y, p.low ?? p.y, p.high ?? p.y]));
  const shares = series.flatMap((s) => s.points.map((p) => p.y));
  const rooted = chart.error && Math.max(...shares) > 8 * Math.min(...shares);
  const percentTick = (y: number) => `${Number((100 * y).toPrecision(3))}%`;
  const plot = Plot.plot({
    width: chart.width,
    height: chart.height ?? 260,
    marginLeft: 56,
    marginBottom: 38,
    style: { background: "transparent", fontSize: "12px", fontFamily: "inherit" },
    x: { label: chart.x, type: chart.logX ? "log" : "linear", reverse: chart.reverseX, ...(chart.logX ? { ticks: 5, tickFormat: "~g" } : {}), ...(chart.wholeX ? { ticks: [...new Set(series.flatMap((s) => s.points.map((p) => p.x)))], tickFormat: "d" } : {}), ...(chart.diagonal ? { domain: [0, 1] } : {}) },
    y: {
      label: chart.y,
      grid: true,
      type: chart.logY ? "log" : rooted ? "sqrt" : "linear",
      ...(chart.logY ? { ticks: powersOfTen(values), tickFormat: "~e" } : { domain: chart.diagonal ? [0, 1] : [0, Math.max(...values, 1e-9)] }),
      ...(rooted ? { ticks: kErrorTicks.filter((y) => y <= Math.max(...values)) } : {}),
      ...(chart.percentY ? { tickFormat: percentTick } : {}),
    },
    marks: marks({ ...chart, series }),
  });
  describe(plot, chart.label);
  return h("figure", { style: `max-width:${chart.width}px` }, h("figcaption", {}, chart.label), plot, series.length > 1 ? legend(series) : null);
}
