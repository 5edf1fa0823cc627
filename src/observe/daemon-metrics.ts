/** The metrics of daemons, which run beside the objects of a controller. */
import { counter, type Labels, type NumberFamily, ReadFamily } from "./series.ts";

/** The number of objects that have the daemon, by the state of the daemon, when metrics are read. */
export interface DaemonReading {
  readonly running: number;
  /** Daemons that wait for another one to end, because no more may run at the same time. */
  readonly waiting: number;
  readonly backingOff: number;
  /** Daemons that were asked to end, but have not by the end of the grace period. */
  readonly stuck: number;
}

export interface DaemonLabels {
  readonly controller: string;
  readonly daemon: string;
}

/** The metrics of the daemons of one name. */
export interface DaemonMetrics extends Disposable {
  readFrom(read: () => DaemonReading): void;
  /** Counts a daemon that has thrown. */
  failed(): void;
}

const NOTHING: DaemonReading = Object.freeze({ running: 0, waiting: 0, backingOff: 0, stuck: 0 });

interface Source {
  readonly labels: Labels;
  read: () => DaemonReading;
}

export class DaemonFamilies {
  readonly #sources = new Set<Source>();

  readonly failures: NumberFamily = counter(
    "binnacle_daemon_failures_total",
    "Total number of failures of daemons per controller and daemon",
  );
  readonly daemons: ReadFamily = new ReadFamily({
    name: "binnacle_daemons",
    help: "Number of objects that have a daemon, by what it is doing",
    read: () => this.#samples(),
  });

  /** Two versions of a controller have daemons of one name at the same time while those of the old one end. */
  #samples(): readonly { readonly labels: Labels; readonly value: number }[] {
    const values = new Map<string, { readonly labels: Labels; value: number }>();
    for (const { labels, read } of this.#sources) {
      const { running, waiting, backingOff, stuck } = read();
      for (const [state, value] of Object.entries({ running, waiting, "backing-off": backingOff, stuck })) {
        const key = Object.values(labels).join(" ") + state;
        const sample = values.get(key);
        if (sample === undefined) values.set(key, { labels: { ...labels, state }, value });
        else sample.value += value;
      }
    }
    return [...values.values()];
  }

  daemon({ ...labels }: DaemonLabels): DaemonMetrics {
    const user = new DisposableStack();
    const failures = this.failures.series(labels, user);
    const source: Source = { labels, read: () => NOTHING };
    this.#sources.add(source);
    user.defer(() => this.#sources.delete(source));
    return {
      readFrom: (read) => void (source.read = read),
      failed: () => void failures.value++,
      [Symbol.dispose]: () => user.dispose(),
    };
  }
}
