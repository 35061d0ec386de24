// Images of rows and of templates on small canvases.
import { colour, h } from "./dom";
import { type Examples, int16, int8, type Template, uint8 } from "./data";

function canvas(width: number, height: number, label: string, shown: number, paint: (data: Uint8ClampedArray) => void): HTMLCanvasElement {
  const element = h("canvas", { width, height, role: "img", "aria-label": label, class: "picture" });
  element.style.width = `${shown}px`;
  element.style.height = `${(shown * height) / width}px`;
  const context = element.getContext("2d")!;
  const image = context.createImageData(width, height);
  paint(image.data);
  context.putImageData(image, 0, 0);
  return element;
}

export function rowPicture(examples: Examples): (index: number, label: string) => HTMLCanvasElement {
  const { width, height, pixels } = examples.image!;
  const all = uint8(pixels);
  return (index, label) =>
    canvas(width, height, label, 72, (data) => {
      for (let p = 0; p < width * height; ++p) {
        const value = all[index * width * height + p];
        data.set([value, value, value, 255], 4 * p);
      }
    });
}

const channel = (hex: string, at: number) => parseInt(hex.slice(1 + 2 * at, 3 + 2 * at), 16);

/** Where the template looks (the shade) and its weights, drawn in the middle of its mask. */
export function templatePicture(t: Template, label: string, shown = 84): HTMLCanvasElement {
  const weights = int8(t.weights);
  const [rows, columns] = [int16(t.rows), int16(t.columns)];
  const largest = Math.max(...weights.map(Math.abs), 1);
  const middle = (mask: Int16Array) => mask.indexOf(Math.max(...mask));
  const [top, left] = [middle(rows), middle(columns)];
  const mask = (profile: Int16Array, i: number) => {
    const position = Math.max(0, Math.min(profile.length - 1, i - Math.floor(t.size / 2)));
    return profile[position] / Math.max(...profile, 1);
  };
  const [ground, plus, minus, text] = ["cell", "plus", "minus", "muted"].map(colour);
  return canvas(t.width, t.height, label, shown, (data) => {
    for (let y = 0; y < t.height; ++y) {
      for (let x = 0; x < t.width; ++x) {
        const [v, u] = [y - top, x - left];
        const inside = u >= 0 && v >= 0 && u < t.size && v < t.size;
        const weight = inside ? weights[v * t.size + u] / largest : 0;
        const shade = 0.35 * mask(rows, y) * mask(columns, x);
        const [to, share] = inside ? [weight > 0 ? plus : minus, Math.abs(weight)] : [text, shade];
        const pixel = [0, 1, 2].map((c) => channel(ground, c) + (channel(to, c) - channel(ground, c)) * share);
        data.set([...pixel, 255], 4 * (y * t.width + x));
      }
    }
  });
}

/** The pixels that features read, on the image's grid. */
export function pixelMap(columns: number[], total: number, width: number, label: string): HTMLCanvasElement {
  const height = Math.round(total / width);
  const [ground, used] = [colour("cell"), colour("plus")];
  const place = new Map(columns.map((column, i) => [column, 1 - (0.7 * i) / Math.max(1, columns.length)]));
  return canvas(width, height, label, 168, (data) => {
    for (let p = 0; p < width * height; ++p) {
      const share = place.get(p) ?? 0;
      const pixel = [0, 1, 2].map((c) => channel(ground, c) + (channel(used, c) - channel(ground, c)) * share);
      data.set([...pixel, 255], 4 * p);
    }
  });
}
