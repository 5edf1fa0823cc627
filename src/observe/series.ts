/**
 * Counters, gauges and histograms whose label sets are resolved once.
 *
 * The library's own ones look up their labels with each call; here a caller holds the series itself, and the
 * library's registry only writes it.
 */

export type Labels = Readonly<Record<string, string>>;

/** One sample as the library's registry writes it. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
  readonly sharedLabels?: Labels;
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
  /** The counts, which are not cumulative; there is one more than there are bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
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
  }
}

/** All series with one name, which the library's registry treats as a metric. */
export abstract class Family<S extends { readonly labels: Labels }> {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly aggregator = "sum";
  /** The series by label values; users with the same labels share one, which is removed with the last of them. */
  readonly #series = new Map<string, { readonly series: S; users: number }>();

  constructor(info: FamilyInfo, type: "counter" | "gauge" | "histogram") {
    this.name = info.name;
    this.help = info.help;
    this.type = type;
  }

  protected abstract make(labels: Labels): S;
  protected abstract samples(series: S): Iterable<Sample>;

  /** Returns the series of these labels; a new one starts at 0. */
  series(labels: Labels): S {
    const key = keyOf(labels);
    let entry = this.#series.get(key);
    if (entry === undefined) {
      entry = { series: this.make(labels), users: 0 };
      this.#series.set(key, entry);
    }
    entry.users++;
    return entry.series;
  }

  /** Undoes one `series()`. */
  release(series: S): void {
    const key = keyOf(series.labels);
    const entry = this.#series.get(key);
    if (entry === undefined || entry.series !== series) return;
    if (--entry.users === 0) this.#series.delete(key);
  }

  get(): Promise<{ name: string; help: string; type: string; aggregator: string; values: Sample[] }> {
    const values: Sample[] = [];
    for (const { series } of this.#series.values()) values.push(...this.samples(series));
    return Promise.resolve({
      name: this.name,
      help: this.help,
      type: this.type,
      aggregator: this.aggregator,
      values,
    });
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
      yield { metricName, sharedLabels, labels: { le: bound }, value: count };
    }
    count += series.counts[this.#bounds.length]!;
    yield { metricName, sharedLabels, labels: { le: "+Inf" }, value: count };
    yield { metricName: `${this.name}_sum`, sharedLabels, labels: {}, value: series.sum };
    yield { metricName: `${this.name}_count`, sharedLabels, labels: {}, value: count };
  }
}

/** A gauge or counter whose samples are computed when they are read. */
export class ReadFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly aggregator = "sum";
  readonly #read: () => Iterable<{ readonly labels: Labels; readonly value: number }>;

  constructor(
    info: FamilyInfo & { readonly type?: "counter" | "gauge" },
    read: () => Iterable<{ readonly labels: Labels; readonly value: number }>,
  ) {
    this.name = info.name;
    this.help = info.help;
    this.type = info.type ?? "gauge";
    this.#read = read;
  }

  get(): Promise<{ name: string; help: string; type: string; aggregator: string; values: Sample[] }> {
    return Promise.resolve({
      name: this.name,
      help: this.help,
      type: this.type,
      aggregator: this.aggregator,
      values: [...this.#read()],
    });
  }
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join("\u0000");
}
