/** Counters, gauges and histograms of plugins and controllers, with labels. */
import type { Counter, Gauge, Histogram, MetricDeclaration, MetricOptions } from "./author-metric.ts";
import type { Metrics } from "./metrics.ts";
import { HistogramFamily, type HistogramSeries, type Labels, NumberFamily, type Series } from "./series.ts";

/** The default bounds of a histogram in seconds; client-go has the same. */
const BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

interface Family<S> {
  series(labels: Labels): S;
}

/** The series of a metric, each looked up once. */
class Labelled<S> {
  readonly #name: string;
  readonly #labels: readonly string[];
  readonly #family: Family<S>;
  readonly #series = new Map<string, S>();

  constructor({ name, labels = [] }: MetricOptions<string>, family: Family<S>) {
    this.#name = name;
    this.#labels = labels;
    this.#family = family;
  }

  /** Returns the series of these labels. @throws TypeError unless exactly the labels of the metric have texts. */
  at(labels: Readonly<Record<string, unknown>> = {}): S {
    const values = this.#labels.map((label) => labels[label]);
    const isWrong = values.some((value) => typeof value !== "string") || Object.keys(labels).length !== values.length;
    if (isWrong) {
      const needs = this.#labels.length === 0 ? "no labels" : `the labels ${this.#labels.join(", ")}, each a text`;
      throw new TypeError(`Cannot write the metric '${this.#name}': it needs ${needs}, got ${JSON.stringify(labels)}`);
    }
    const key = JSON.stringify(values);
    let series = this.#series.get(key);
    if (series === undefined) {
      // In the order of the declaration, by which the family distinguishes series.
      const ordered = Object.fromEntries(this.#labels.map((label, index) => [label, values[index]])) as Labels;
      this.#series.set(key, (series = this.#family.series(ordered)));
    }
    return series;
  }
}

type Arguments = readonly [number?] | readonly [Readonly<Record<string, string>>, number?];

/** Splits the arguments into labels, if there are some, and the number. */
function parts(values: Arguments): readonly [Readonly<Record<string, string>> | undefined, number | undefined] {
  const [first, second] = values;
  return typeof first === "object" ? [first, second] : [undefined, first];
}

/** Creates the metrics of a plugin or of a controller. */
export class AuthorMetrics {
  readonly #register: (family: Parameters<Metrics["addFamily"]>[0]) => void;

  /** Creates the factory. @param register called with each new metric. */
  constructor(register: (family: Parameters<Metrics["addFamily"]>[0]) => void) {
    this.#register = register;
  }

  /** Creates the metrics that a controller declares, by their names in the declaration. */
  declared(
    declarations: Readonly<Record<string, MetricDeclaration>>,
  ): Readonly<Record<string, Counter<string> | Gauge<string> | Histogram<string>>> {
    const metrics = Object.entries(declarations).map(
      ([name, declaration]) => [name, this.#declared(declaration)] as const,
    );
    return Object.freeze(Object.fromEntries(metrics));
  }

  #declared(declaration: MetricDeclaration): Counter<string> | Gauge<string> | Histogram<string> {
    switch (declaration.type) {
      case "counter":
        return this.counter(declaration);
      case "gauge":
        return this.gauge(declaration);
      default:
        return this.histogram(declaration);
    }
  }

  counter(options: MetricOptions<string>): Counter<string> {
    checkOptions(options);
    const { name } = options;
    if (!name.endsWith("_total")) {
      throw new TypeError(`Cannot add the metric '${name}': the name of a counter ends with _total`);
    }
    const series = this.#numbers(options, "counter");
    return {
      inc: (...values: Arguments) => {
        const [labels, by = 1] = parts(values);
        checkNumber(name, by);
        if (by < 0) throw new TypeError(`Cannot write the metric '${name}': a counter only goes up, got ${by}`);
        series.at(labels).value += by;
      },
    };
  }

  gauge(options: MetricOptions<string>): Gauge<string> {
    checkOptions(options);
    const { name } = options;
    const series = this.#numbers(options, "gauge");
    const change =
      (sign: number) =>
      (...values: Arguments) => {
        const [labels, by = 1] = parts(values);
        checkNumber(name, by);
        series.at(labels).value += sign * by;
      };
    const set = (...values: Arguments) => {
      const [labels, value] = parts(values);
      series.at(labels).value = checkNumber(name, value);
    };
    return { set, inc: change(1), dec: change(-1) };
  }

  histogram(options: MetricOptions<string> & { readonly buckets?: readonly number[] | undefined }): Histogram<string> {
    checkOptions(options);
    const { name, help, buckets = BUCKETS } = options;
    const isRising = buckets.every((bound, index) => index === 0 || bound > buckets[index - 1]!);
    if (buckets.length === 0 || !isRising) {
      throw new TypeError(`Cannot add the metric '${name}': its buckets must rise, got ${JSON.stringify(buckets)}`);
    }
    checkLabels(options, ["le"]);
    const family = new HistogramFamily({ name, help, bounds: buckets });
    this.#register(family);
    const series = new Labelled<HistogramSeries>(options, family);
    return {
      observe: (...values: Arguments) => {
        const [labels, value] = parts(values);
        series.at(labels).observe(checkNumber(name, value));
      },
    };
  }

  #numbers(options: MetricOptions<string>, type: "counter" | "gauge"): Labelled<Series> {
    checkLabels(options, []);
    const { name, help } = options;
    const family = new NumberFamily({ name, help }, type);
    this.#register(family);
    const series = new Labelled<Series>(options, family);
    if ((options.labels ?? []).length === 0) series.at(); // exists from the beginning, at 0
    return series;
  }
}

/** Requires a number. @throws TypeError for any other value, because one NaN would make every later sum NaN. */
function checkNumber(name: string, value: unknown): number {
  if (typeof value === "number" && !Number.isNaN(value)) return value;
  const got = typeof value === "string" ? JSON.stringify(value) : String(value);
  throw new TypeError(`Cannot write the metric '${name}': it needs a number, got ${got}`);
}

function checkOptions(options: MetricOptions<string>): void {
  const { name, help, labels = [] } = Object(options) as Partial<MetricOptions<string>>;
  if (typeof name !== "string" || typeof help !== "string") {
    throw new TypeError("Cannot add a metric: it needs { name, help }, each a text");
  }
  if (!Array.isArray(labels)) throw new TypeError(`Cannot add the metric '${name}': 'labels' must be a list of names`);
}

function checkLabels({ name, labels = [] }: MetricOptions<string>, reserved: readonly string[]): void {
  for (const [index, label] of labels.entries()) {
    const isName = LABEL_NAME.test(label) && !label.startsWith("__") && !reserved.includes(label);
    if (isName && labels.indexOf(label) === index) continue;
    throw new TypeError(
      `Cannot add the metric '${name}': the label '${label}' ${isName ? "is there twice" : "is no name of a label"}`,
    );
  }
}
