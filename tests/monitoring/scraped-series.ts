/** Scrapes as the series of promtool's unit tests, with the labels that a ServiceMonitor adds. */
import { join } from "node:path";

/** Seconds between two scrapes, and how many follow the first one. */
export const INTERVAL = 15;
export const SCRAPES = 54;
/** The operator that the recordings are of, as it would be deployed. */
export const OPERATOR = { name: "shop", namespace: "shop-system" } as const;
export const RECORDINGS: string = join(import.meta.dirname, "recordings");

interface Place {
  readonly replica: number;
  readonly scrape: number;
  /** The seconds of the first scrape: the clock of promtool's tests begins at 0. */
  readonly epoch: number;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

export class ScrapedSeries {
  readonly #wanted: ReadonlySet<string>;
  readonly #values = new Map<string, (string | undefined)[]>();

  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  /** @param text of `/metrics`; `undefined` when it could not be read. */
  add(place: Place, text: string | undefined): void {
    const { replica, scrape, epoch } = place;
    const { name, namespace } = OPERATOR;
    const target = `namespace="${namespace}",job="${name}-metrics",pod="${name}-${replica}",instance="10.0.0.${replica + 1}:8080"`;
    const put = (metric: string, labels: string, value: string): void => {
      if (!this.#wanted.has(metric)) return;
      const series = `${metric}{${labels === "" ? "" : `${labels},`}${target}}`;
      const values = this.#values.get(series) ?? [];
      values[scrape] = value;
      this.#values.set(series, values);
    };
    put("up", "", text === undefined ? "0" : "1");
    for (const line of (text ?? "").split("\n")) {
      const [, metric, labels = "", value = ""] = SAMPLE.exec(line) ?? [];
      if (metric === undefined) continue;
      put(metric, labels, metric.endsWith("_timestamp_seconds") ? String(Number(value) - epoch) : value);
    }
  }

  /** The series in promtool's notation. As Prometheus does it, a series that is missing in a scrape ends there. */
  text(): string {
    const series = [...this.#values].map(([name, values]) => {
      const whole = Array.from({ length: SCRAPES + 1 }, (_, index) => {
        if (values[index] !== undefined) return values[index];
        return index > 0 && values[index - 1] !== undefined ? "stale" : "_";
      });
      return { series: name, values: shortened(whole) };
    });
    return `${JSON.stringify(series, undefined, 1)}\n`;
  }
}

/** Writes runs of equal values as `1x3`, which stands for four of them. */
function shortened(values: readonly string[]): string {
  const runs: { readonly value: string; times: number }[] = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last?.value === value && value !== "stale") last.times++;
    else runs.push({ value, times: 1 });
  }
  return runs
    .map(({ value, times }) => (times === 1 ? value : value === "_" ? `_x${times}` : `${value}x${times - 1}`))
    .join(" ");
}
