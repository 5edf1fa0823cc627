/** The parts that all clients of a controller share, and the context of a single run's requests. */
import type { InformerRegistry } from "../cache/informer-registry.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { RunRecord } from "../history/run-record.ts";
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Resource } from "../resource/handle.ts";
import type { WriteGate } from "../kube/transport/write-gate.ts";
import type { Permissions } from "./permissions.ts";

/** The parts that all clients of a controller share. */
export interface ClientScope {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly informers: InformerRegistry;
  /** The field manager of writes. */
  readonly manager: string;
  /** The informers of the kinds that the controller declared, by `groupKind`. */
  readonly declared: ReadonlyMap<string, readonly SharedInformer[]>;
  readonly permissions: Permissions;
  /** Called for each call that was not declared. */
  readonly onUndeclared: ((resource: Resource, verb: string, subresource: string | undefined) => void) | undefined;
}

/**
 * The context in which requests are sent, usually that of a run: the author of writes, and whether it still may write.
 */
export interface RequestContext {
  readonly gate: WriteGate;
  /** Cancels the requests; `undefined` while nothing can cancel them, which saves a listener for each request. */
  readonly requestSignal: AbortSignal | undefined;
  /** The writer's mark, by which a controller recognises the events that its writes cause. */
  readonly origin: string;
  /** Headers that impersonate another user. */
  readonly headers?: HeaderValues | undefined;
  /** The field manager. @default the controller's name */
  readonly manager?: string | undefined;
  /** Whether writes are dry runs: the server checks them and stores nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** Records what the run reads and writes. @default nothing is recorded */
  readonly record?: RunRecord | undefined;
  /**
   * Remembers the values that are read and written, so that logs and messages of the run can leave out sensitive ones.
   */
  keep?(resource: Resource, object: unknown): void;
}
