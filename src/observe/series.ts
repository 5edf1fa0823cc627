/**
 * Counters, gauges and histograms whose label sets are resolved once.
 *
 * The library's own metrics look up their labels at each call. Here a caller holds the series itself, and the library's
 * registry only prints it.
 */

export type Labels = Readonly<Record<string, string>>;

/** The trace of one observation, which OpenMetrics shows beside the bucket that it went into. */
export interface Exemplar {
  readonly trace: string;
  readonly span: string;
}

/** One sample as the library's registry writes it. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
  readonly sharedLabels?: Labels;
  readonly exemplar?: { readonly labelSet: Labels; readonly value: number; readonly timestamp: number } | undefined;
}

export interface FamilyInfo {
  readonly name: string;
  readonly help: string;
}

/** A counter or gauge. */
export class Series {
  value = 0;
  readonly labels: Labels;

  constructor(labels: Labels) {
    this.labels = labels;
  }
}

/** Counts observations by upper bound. */
export class HistogramSeries {
  readonly labels: Labels;
  readonly #bounds: readonly number[];
  /** The counts by bucket, which are not cumulative; there is one more than there are bounds. */
  readonly counts: Float64Array;
  sum = 0;
  /** The newest exemplar of each bucket; `undefined` while no observation had one. */
  #exemplars: (Sample["exemplar"] | undefined)[] | undefined;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** @param exemplar the trace that the observation belongs to. */
  observe(value: number, exemplar?: Exemplar): void {
    const bounds = this.#bounds;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= bounds[middle]!) high = middle;
      else low = middle + 1;
    }
    this.counts[low]!++;
    this.sum += value;
    if (exemplar === undefined) return;
    const labelSet = { trace_id: exemplar.trace, span_id: exemplar.span };
    (this.#exemplars ??= [])[low] = { labelSet, value, timestamp: Date.now() / 1_000 };
  }

  /** Returns the newest exemplar of a bucket. */
  exemplar(bucket: number): Sample["exemplar"] {
    return this.#exemplars?.[bucket];
  }
}

/** A family with all its samples, in the form that the library's registry reads. */
export interface FamilyReading extends FamilyInfo {
  readonly type: string;
  readonly aggregator: "sum";
  readonly values: readonly Sample[];
}

/** All series with one name, which the library's registry treats as a metric. */
export abstract class Family<S extends { readonly labels: Labels }> {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** The series by label values; users with the same labels share one, which is removed with the last of them. */
  readonly #series = new Map<string, { readonly series: S; users: number }>();

  constructor({ name, help }: FamilyInfo, type: "counter" | "gauge" | "histogram") {
    this.name = name;
    this.help = help;
    this.type = type;
  }

  protected abstract make(labels: Labels): S;
  protected abstract samples(series: S): Iterable<Sample>;

  /**
   * Returns the series of these labels; a new one starts at 0.
   *
   * @param user the series is published until this is disposed of. Later counts of this user are not published.
   */
  series(labels: Labels, user?: DisposableStack): S {
    if (user?.disposed === true) return this.make(labels);
    const key = Object.values(labels).join("\u0000");
    let entry = this.#series.get(key);
    if (entry === undefined) this.#series.set(key, (entry = { series: this.make(labels), users: 0 }));
    const { series } = entry;
    entry.users++;
    user?.defer(() => {
      if (--entry.users === 0) this.#series.delete(key);
    });
    return series;
  }

  get(): Promise<FamilyReading> {
    const { name, help, type } = this;
    const values = [...this.#series.values()].flatMap(({ series }) => [...this.samples(series)]);
    return Promise.resolve({ name, help, type, aggregator: "sum", values });
  }
}

export class NumberFamily extends Family<Series> {
  protected make(labels: Labels): Series {
    return new Series(labels);
  }

  protected samples(series: Series): Iterable<Sample> {
    return [{ labels: series.labels, value: series.value }];
  }
}

export class HistogramFamily extends Family<HistogramSeries> {
  readonly #bounds: readonly number[];

  constructor(info: FamilyInfo & { readonly bounds: readonly number[] }) {
    super(info, "histogram");
    this.#bounds = info.bounds;
  }

  protected make(labels: Labels): HistogramSeries {
    return new HistogramSeries(labels, this.#bounds);
  }

  protected *samples(series: HistogramSeries): Iterable<Sample> {
    const { labels: sharedLabels } = series;
    const metricName = `${this.name}_bucket`;
    let count = 0;
    for (const [index, bound] of this.#bounds.entries()) {
      count += series.counts[index]!;
      yield { metricName, sharedLabels, labels: { le: bound }, value: count, exemplar: series.exemplar(index) };
    }
    count += series.counts[this.#bounds.length]!;
    const exemplar = series.exemplar(this.#bounds.length);
    yield { metricName, sharedLabels, labels: { le: "+Inf" }, value: count, exemplar };
    yield { metricName: `${this.name}_sum`, sharedLabels, labels: {}, value: series.sum };
    yield { metricName: `${this.name}_count`, sharedLabels, labels: {}, value: count };
  }
}

export function counter(name: string, help: string): NumberFamily {
  return new NumberFamily({ name, help }, "counter");
}

export function gauge(name: string, help: string): NumberFamily {
  return new NumberFamily({ name, help }, "gauge");
}

/** A metric whose samples are computed when metrics are read. */
export interface ReadMetric extends FamilyInfo {
  /** The name, such as `shop_orders_total`. */
  readonly name: string;
  /** @default "gauge" */
  readonly type?: "gauge" | "counter" | undefined;
  /**
   * Returns the samples; for a metric without labels, its value. The metric is left out while this throws or returns
   * `undefined`.
   */
  readonly read: () => number | undefined | Iterable<{ readonly labels: Labels; readonly value: number }>;
}

export class ReadFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly #read: ReadMetric["read"];

  constructor({ name, help, type = "gauge", read }: ReadMetric) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.#read = read;
  }

  get(): Promise<FamilyReading> {
    const { name, help, type } = this;
    return Promise.resolve({ name, help, type, aggregator: "sum", values: this.#samples() });
  }

  #samples(): readonly Sample[] {
    try {
      const value = this.#read() ?? [];
      return typeof value === "number" ? [{ labels: {}, value }] : [...value];
    } catch {
      return [];
    }
  }
}
