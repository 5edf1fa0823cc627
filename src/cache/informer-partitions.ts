/** The partitions of an informer: a list and watch for each of its namespaces, or one for all namespaces. */
import { compareVersions } from "../resource/meta.ts";
import type { DeltaProcessor } from "./delta-processor.ts";
import { worstOf, type InformerState } from "./informer-state.ts";
import type { Reflector } from "./reflector.ts";

/** The parts of a partition. */
export interface PartitionParts {
  readonly processor: DeltaProcessor;
  readonly reflector: Reflector;
}

export interface InformerPartitionsOptions {
  /** Makes the partition of a namespace; an empty string means all namespaces. */
  readonly make: (namespace: string, onStatus: (status: InformerState) => void) => PartitionParts;
  /** The state of a partition has changed. */
  readonly onStatus: () => void;
}

interface Partition extends PartitionParts {
  status: InformerState;
  /** Whether `synced` waits for the partition; it does not wait for one that is added later. */
  awaited: boolean;
  readonly stopping: AbortController;
  running: Promise<void> | undefined;
}

export class InformerPartitions {
  readonly #options: InformerPartitionsOptions;
  readonly #partitions = new Map<string, Partition>();
  readonly #ending = new Set<Promise<void>>();
  #started = false;

  constructor(options: InformerPartitionsOptions) {
    this.#options = options;
  }

  has(namespace: string): boolean {
    return this.#partitions.has(namespace);
  }

  /** The namespaces, sorted. */
  get namespaces(): readonly string[] {
    return [...this.#partitions.keys()].sort();
  }

  /** Whether there is nothing to list and watch, because no namespace matches the selector. */
  get isEmpty(): boolean {
    return this.#partitions.size === 0;
  }

  get processors(): Iterable<DeltaProcessor> {
    return this.#partitions.values().map(({ processor }) => processor);
  }

  processor(namespace: string): DeltaProcessor | undefined {
    return this.#partitions.get(namespace)?.processor;
  }

  /** The worst state of all partitions; without any it is `watching`. */
  get state(): InformerState {
    return this.#partitions.size === 0
      ? { kind: "watching" }
      : worstOf(this.#partitions.values().map(({ status }) => status));
  }

  /** Whether all awaited partitions have been listed. */
  get synced(): boolean {
    let synced = true;
    for (const partition of this.#partitions.values()) {
      partition.awaited ||= partition.processor.synced;
      if (partition.awaited && !partition.processor.synced) synced = false;
    }
    return synced;
  }

  /** The needs that all awaited partitions meet. */
  get needsMet(): number {
    let least = Infinity;
    for (const { awaited, processor } of this.#partitions.values())
      if (awaited) least = Math.min(least, processor.needsMet);
    return least;
  }

  /** The resource version of the least current partition. */
  get resourceVersion(): string {
    let least: string | undefined;
    for (const { processor } of this.#partitions.values()) {
      if (least === undefined || compareVersions(processor.resourceVersion, least) < 0)
        least = processor.resourceVersion;
    }
    return least ?? "";
  }

  /** @param awaited whether `synced` waits for it. */
  add(namespace: string, awaited: boolean): void {
    const parts = this.#options.make(namespace, (status) => {
      partition.status = status;
      this.#options.onStatus();
    });
    const partition: Partition = {
      ...parts,
      status: { kind: "starting" },
      awaited,
      stopping: new AbortController(),
      running: undefined,
    };
    this.#partitions.set(namespace, partition);
    if (this.#started) run(partition);
  }

  /** Ends a partition: its objects leave the store, and handlers receive their deletions. */
  remove(namespace: string): void {
    const partition = this.#partitions.get(namespace);
    if (partition === undefined) return;
    this.#partitions.delete(namespace);
    end(partition);
    const ending = (partition.running ?? Promise.resolve()).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    partition.processor.vanish();
  }

  /** Starts listing and watching; later calls have no effect. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    for (const partition of this.#partitions.values()) run(partition);
  }

  /** Lists everything again: in partitions that have taken objects already, or in all with `always`. */
  relist(always = false): void {
    for (const { processor, reflector } of this.#partitions.values()) {
      if (always || processor.hasTaken) reflector.relist("needs");
    }
  }

  /** Begins the watches again where they are, because fewer objects are to be watched. */
  rewatch(): void {
    for (const { reflector } of this.#partitions.values()) reflector.rewatch();
  }

  /** Stops all partitions; resolves once nothing is left running. */
  async stop(): Promise<void> {
    for (const partition of this.#partitions.values()) end(partition);
    await Promise.all([...this.#ending, ...this.#partitions.values().map(({ running }) => running)]);
  }
}

function run(partition: Partition): void {
  partition.running = partition.reflector.run(partition.stopping.signal);
}

function end(partition: Partition): void {
  partition.stopping.abort(new Error("The informer is stopped"));
}
