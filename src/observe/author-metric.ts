/** The types of metrics that authors of modules write. */

/** A metric that the author's code writes. */
export interface MetricOptions<L extends string> {
  /** The name, such as `shop_orders_total`: letters, digits and underscores; that of a counter ends with `_total`. */
  readonly name: string;
  readonly help: string;
  /** The names of its labels. Each set of values is a series of its own, as long as the module runs. @default none */
  readonly labels?: readonly L[] | undefined;
}

/** The labels of a metric with labels, and a number. */
type Measured<L extends string, Value extends readonly unknown[]> = [L] extends [never]
  ? Value
  : [labels: { readonly [K in L]: string }, ...value: Value];

/** A metric that only increases. */
export interface Counter<L extends string> {
  /** @param by @default 1 */
  inc(...by: Measured<L, [by?: number]>): void;
}

/** A metric that increases and decreases. */
export interface Gauge<L extends string> {
  set(...value: Measured<L, [value: number]>): void;
  /** @param by @default 1 */
  inc(...by: Measured<L, [by?: number]>): void;
  /** @param by @default 1 */
  dec(...by: Measured<L, [by?: number]>): void;
}

/** A metric that counts observations by size. */
export interface Histogram<L extends string> {
  observe(...value: Measured<L, [value: number]>): void;
}

/** A metric of a controller, by its type. */
export type MetricDeclaration =
  | ({ readonly type: "counter" | "gauge" } & MetricOptions<string>)
  | ({
      readonly type: "histogram";
      /** The increasing upper bounds. @default 5 ms to 10 s, in seconds */
      readonly buckets?: readonly number[] | undefined;
    } & MetricOptions<string>);

/** The labels that a declaration names. */
type LabelsOf<D> = D extends { readonly labels: readonly (infer L extends string)[] } ? L : never;

/** The metrics that a controller's code writes, by their names in `metrics`. */
export type WrittenMetrics<Metrics> = {
  readonly [M in keyof Metrics]: Metrics[M] extends { readonly type: "counter" }
    ? Counter<LabelsOf<Metrics[M]>>
    : Metrics[M] extends { readonly type: "gauge" }
      ? Gauge<LabelsOf<Metrics[M]>>
      : Histogram<LabelsOf<Metrics[M]>>;
};
