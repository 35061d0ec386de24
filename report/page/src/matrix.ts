// A matrix drawn on a canvas: hover, click and arrow keys tell and choose cells.
import { colour, h } from "./dom";

/** With more columns than this, a matrix takes the whole width of the page. */
export const kBeside = 24;

export interface MatrixView {
  rows: string[];
  columns: string[];
  /** -1..1: strength of the colour of each cell; 0 is the background. */
  tint: (row: number, column: number) => number;
  /** Text inside the cell where there is room. */
  mark: (row: number, column: number) => string;
  /** What the cell means, in words. */
  words: (row: number, column: number) => string;
  pick?: (row: number, column: number) => void;
}

type Rgb = [number, number, number];

function rgb(hex: string): Rgb {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

const kShades = 128;

/** Colours from -1 to 1 in 2 kShades + 1 steps, as the words of an image; 0 is in the middle. */
function palette(): Uint32Array {
  const [none, more, less] = [rgb(colour("cell")), rgb(colour("plus")), rgb(colour("minus"))];
  const bytes = new Uint8ClampedArray(4 * (2 * kShades + 1));
  for (let i = -kShades; i <= kShades; ++i) {
    const share = i === 0 ? 0 : 0.12 + (0.88 * Math.abs(i)) / kShades;
    const to = i > 0 ? more : less;
    bytes.set([...none.map((x, c) => x + (to[c] - x) * share), 255], 4 * (i + kShades));
  }
  return new Uint32Array(bytes.buffer);
}

export class Matrix {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { tabindex: 0 });
  private readonly readout = h("p", { class: "readout", "aria-live": "polite" });
  private view: MatrixView | null = null;
  private at = { row: 0, column: 0 };
  private left = 0;
  private top = 0;
  private cellWidth = 1;
  private cellHeight = 1;
  private focused = false;

  constructor(
    name: string,
    private readonly mostHeight: number,
    private readonly square = false,
  ) {
    this.readout.id = `${name.toLowerCase().replace(/[^a-z]+/g, "-")}-readout`;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `${name}: arrow keys move between cells, Enter chooses one`);
    this.canvas.setAttribute("aria-describedby", this.readout.id);
    this.element = h("div", { class: "matrix" }, h("div", { class: "scroll" }, this.canvas), this.readout);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("click", (event) => {
      if (this.hover(event)) this.choose();
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => this.focus(true));
    this.canvas.addEventListener("blur", () => this.focus(false));
  }

  show(view: MatrixView): void {
    this.view = view;
    this.at.row = Math.min(this.at.row, Math.max(0, view.rows.length - 1));
    this.at.column = Math.min(this.at.column, Math.max(0, view.columns.length - 1));
    this.draw();
    if (!this.focused) this.readout.textContent = "Point at a cell, or move with the arrow keys.";
    else this.tell();
  }

  /** Moves the frame to a cell. */
  goTo(row: number, column: number): void {
    this.at = { row, column };
    this.draw();
    this.tell();
  }

  draw(): void {
    const view = this.view;
    if (!view || !view.rows.length || !view.columns.length) {
      this.canvas.width = this.canvas.height = 1;
      return;
    }
    const context = this.measure(view);
    context.drawImage(this.cells(view), this.left, this.top, view.columns.length * this.cellWidth, view.rows.length * this.cellHeight);
    this.drawLabels(context, view);
    this.drawMarks(context, view);
    if (this.focused || this.at.row + this.at.column > 0) this.drawFrame(context);
  }

  /** Sizes of the canvas and its parts. */
  private measure(view: MatrixView): CanvasRenderingContext2D {
    const available = Math.max(260, (this.element.clientWidth || 640) - 2);
    const context = this.canvas.getContext("2d")!;
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.font = font;
    const widest = (names: string[]) => Math.max(...names.slice(0, 400).map((name) => context.measureText(clip(name)).width));
    const tallest = this.square ? Math.min(36, Math.max(1, (available - 40) / view.columns.length)) : 22;
    this.cellHeight = Math.min(tallest, Math.max(view.rows.length <= 100 ? 11 : 1, this.mostHeight / view.rows.length));
    if (this.cellHeight > 2) this.cellHeight = Math.floor(this.cellHeight);
    this.left = this.cellHeight >= 11 ? Math.min(available * 0.4, widest(view.rows) + 10) : 8;
    this.cellWidth = Math.min(this.square ? Math.max(1, this.cellHeight * 1.25) : 44, Math.max(1, (available - this.left) / view.columns.length));
    if (this.cellWidth > 2) this.cellWidth = Math.floor(this.cellWidth);
    const labelled = this.cellWidth >= 11;
    this.top = !labelled ? 8 : widest(view.columns) <= this.cellWidth - 4 ? 20 : Math.min(110, widest(view.columns) + 10);
    const width = Math.ceil(this.left + view.columns.length * this.cellWidth + 1);
    const height = Math.ceil(this.top + view.rows.length * this.cellHeight + 1);
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    context.scale(ratio, ratio);
    context.font = font;
    context.imageSmoothingEnabled = false;
    return context;
  }

  /** One pixel per cell. */
  private cells(view: MatrixView): HTMLCanvasElement {
    const picture = document.createElement("canvas");
    picture.width = view.columns.length;
    picture.height = view.rows.length;
    const context = picture.getContext("2d")!;
    const image = context.createImageData(picture.width, picture.height);
    const pixels = new Uint32Array(image.data.buffer);
    const colours = palette();
    for (let row = 0, at = 0; row < picture.height; ++row) {
      for (let column = 0; column < picture.width; ++column, ++at) {
        const tint = view.tint(row, column);
        pixels[at] = colours[kShades + Math.sign(tint) * Math.ceil(Math.min(1, Math.abs(tint)) * kShades)];
      }
    }
    context.putImageData(image, 0, 0);
    return picture;
  }

  private drawLabels(context: CanvasRenderingContext2D, view: MatrixView): void {
    context.fillStyle = colour("text");
    context.textBaseline = "middle";
    if (this.cellHeight >= 11) {
      context.textAlign = "right";
      view.rows.forEach((name, row) => context.fillText(clip(name), this.left - 5, this.top + (row + 0.5) * this.cellHeight, this.left - 8));
    }
    if (this.cellWidth < 11) return;
    const upright = this.top === 20;
    view.columns.forEach((name, column) => {
      context.save();
      context.translate(this.left + (column + 0.5) * this.cellWidth, this.top - 5);
      context.textAlign = upright ? "center" : "left";
      if (upright) context.translate(0, -5);
      else context.rotate(-Math.PI / 2);
      context.fillText(clip(name), 0, 0, upright ? this.cellWidth : this.top - 6);
      context.restore();
    });
  }

  private drawMarks(context: CanvasRenderingContext2D, view: MatrixView): void {
    if (this.cellHeight < 12 || this.cellWidth < 12) return;
    context.textAlign = "center";
    for (let row = 0; row < view.rows.length; ++row) {
      for (let column = 0; column < view.columns.length; ++column) {
        const mark = view.mark(row, column);
        if (!mark) continue;
        context.fillStyle = Math.abs(view.tint(row, column)) > 0.5 ? colour("on-strong") : colour("text");
        context.fillText(mark, this.left + (column + 0.5) * this.cellWidth, this.top + (row + 0.55) * this.cellHeight, this.cellWidth - 1);
      }
    }
  }

  private drawFrame(context: CanvasRenderingContext2D): void {
    context.strokeStyle = colour("text");
    context.lineWidth = 2;
    const width = Math.max(4, this.cellWidth);
    const height = Math.max(4, this.cellHeight);
    context.strokeRect(this.left + this.at.column * this.cellWidth, this.top + this.at.row * this.cellHeight, width, height);
  }

  private hover(event: MouseEvent): boolean {
    if (!this.view) return false;
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left) / this.cellWidth);
    const row = Math.floor((event.clientY - box.top - this.top) / this.cellHeight);
    if (row < 0 || column < 0 || row >= this.view.rows.length || column >= this.view.columns.length) return false;
    if (row !== this.at.row || column !== this.at.column || event.type === "click") this.goTo(row, column);
    return true;
  }

  private key(event: KeyboardEvent): void {
    const view = this.view;
    if (!view || !view.rows.length) return;
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      Home: [0, -view.columns.length],
      End: [0, view.columns.length],
      PageUp: [-10, 0],
      PageDown: [10, 0],
    };
    if (event.key === "Enter" || event.key === " ") this.choose();
    else if (event.key in steps) {
      const [rows, columns] = steps[event.key];
      const limit = (x: number, count: number) => Math.max(0, Math.min(count - 1, x));
      this.goTo(limit(this.at.row + rows, view.rows.length), limit(this.at.column + columns, view.columns.length));
    } else return;
    event.preventDefault();
  }

  private focus(on: boolean): void {
    this.focused = on;
    this.draw();
    if (on) this.tell();
  }

  private tell(): void {
    if (this.view?.rows.length) this.readout.textContent = this.view.words(this.at.row, this.at.column);
  }

  private choose(): void {
    this.view?.pick?.(this.at.row, this.at.column);
  }
}

const clip = (name: string) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);
