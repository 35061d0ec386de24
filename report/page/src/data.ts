// The data of the page, as src/report/page*.cpp writes it. Arrays of numbers come as base64 of little-endian bytes.

export interface Stage {
  number: number; // of the stage in the model's path, from 0
  features: number;
  parameter: number; // lambda, or a number of features
  columnsRead: number;
  multiplyAdds?: number;
  weights?: number;
  bytes: number;
}

export interface Template {
  size: number;
  height: number;
  width: number;
  weights: string; // int8
  rows: string; // int16
  columns: string; // int16
}

export interface Feature {
  text: string;
  pool: string;
  columns?: number[];
  width?: number; // columns of weights, where there are several
  template?: Template;
}

export interface Weights {
  features: number[]; // rows
  scale: string; // float32 per row
  values: string; // int16, rows x outputs
}

export interface Level {
  features: number;
  users: number[]; // outputs that use each feature
  norms: string; // float32 per output
}

/** What a stream of examples did. */
export interface Counts {
  examples: number;
  mistakes: number;
}

export interface Sharing extends Counts {
  firstOccurrences: number;
  updates: number;
  hypotheses: string;
  common: boolean;
  sets: { name: string; members: number[] }[];
  votes: [number, number, number][]; // helped, harmed, trials
  examplesOf: number[];
}

/** A checkpoint of predictions that stop early; the last one is the full model. With labelled data: weights of answers. */
export interface EarlyStep {
  features: number;
  columns: number;
  multiplyAdds: number;
  threshold?: number; // of the margin; the last step has none
  answered?: number;
  wrong?: number;
  wrongIfFull?: number; // the full model, in the same cases
  different?: number;
}

export interface Early {
  steps: EarlyStep[];
  full: { features: number; multiplyAdds: number };
  disagreement: number;
  confidence: number;
  rows: number;
  upperBound: number;
}

export interface StageOnData {
  error: number;
  loss: number | null;
  weight: number;
  bins?: [number, number, number][]; // weight, weight x confidence, weight of right answers
  cells: { truth: string; predicted: string; weight: string }; // uint16, uint16, float32
  costs?: { error: string; loss: string; rows: number }; // float32 per row of the weights
}

export interface Examples {
  row: string; // uint32
  task: string; // uint16
  truth: string; // float32
  predicted: string; // float32, stages x examples
  strength: string; // float32, stages x examples
  labels: string[] | null;
  image?: { width: number; height: number; pixels: string };
  columns?: string[];
  values?: string; // float32, examples x columns
  sparse?: (string | number)[][];
}

export interface OnData {
  source: string;
  rows: number;
  probabilities: boolean;
  stages: StageOnData[];
  examples: Examples;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Fit extends JsonObject {
  rounds: JsonObject[];
}

export interface Page {
  version: string;
  title: string;
  kind: string;
  outputsAre: "classes" | "tasks" | "value";
  outputs: string[];
  columns: number;
  metadata: JsonObject;
  fit: Fit | null;
  imageWidth: number;
  axis: "features" | "lambda" | "level" | "none";
  stages: Stage[];
  stageCount: number;
  chosen: number;
  features: Feature[];
  weights: Weights[];
  order: { features: number[]; outputs: number[] };
  levels?: Level[];
  sharing?: Sharing;
  online?: Counts & { predictions: number }; // of an online cascade
  early?: Early;
  data?: OnData | null;
}

function bytes(text: string): ArrayBuffer {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

export const int8 = (text: string) => new Int8Array(bytes(text));
export const uint8 = (text: string) => new Uint8Array(bytes(text));
export const int16 = (text: string) => new Int16Array(bytes(text));
export const uint16 = (text: string) => new Uint16Array(bytes(text));
export const uint32 = (text: string) => new Uint32Array(bytes(text));
export const float32 = (text: string) => new Float32Array(bytes(text));

export const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

export const asNumber = (value: Json | undefined): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** One case of the labelled data: a row, or a task of a row. */
export interface Example {
  index: number;
  row: number;
  task: number;
  truth: number;
  predicted: number;
  strength: number;
}

/** The examples as a stage answers them. */
export function examplesAt(examples: Examples): (stage: number) => Example[] {
  const row = uint32(examples.row);
  const task = uint16(examples.task);
  const truth = float32(examples.truth);
  const predicted = float32(examples.predicted);
  const strength = float32(examples.strength);
  return (stage) =>
    Array.from(row, (r, index) => ({
      index,
      row: r,
      task: task[index],
      truth: truth[index],
      predicted: predicted[stage * row.length + index],
      strength: strength[stage * row.length + index],
    }));
}

export interface Cell {
  truth: number;
  predicted: number;
  weight: number;
}

export function cellsOf(stage: StageOnData): Cell[] {
  const truth = uint16(stage.cells.truth);
  const predicted = uint16(stage.cells.predicted);
  const weight = float32(stage.cells.weight);
  return Array.from(truth, (t, i) => ({ truth: t, predicted: predicted[i], weight: weight[i] }));
}
