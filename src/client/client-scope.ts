/** What the clients of one controller share, and what one run adds. */
import type { InformerRegistry } from "../cache/informer-registry.ts";
import type { SharedInformer } from "../cache/shared-informer.ts";
import type { HeaderValues } from "../kube/config/cluster-config.ts";
import type { RestMapper } from "../kube/api/mapper.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Resource } from "../resource/handle.ts";
import type { WriteGate } from "./write-gate.ts";
import type { Permissions } from "./permissions.ts";

/** One controller's view of the cluster. */
export interface ClientScope {
  readonly transport: Transport;
  readonly mapper: RestMapper;
  readonly informers: InformerRegistry;
  /** The field manager of writes. */
  readonly manager: string;
  /** The informers of the kinds that the controller declared, by `groupKind`. */
  readonly declared: ReadonlyMap<string, readonly SharedInformer[]>;
  readonly permissions: Permissions;
  /** Told of each call that was not declared. */
  readonly onUndeclared: ((resource: Resource, verb: string, subresource: string | undefined) => void) | undefined;
}

/** One run: what it writes counts as its own, and its end closes its gate. */
export interface RequestContext {
  readonly gate: WriteGate;
  /** Cancels requests of the run; `undefined` while nobody would, which spares each request its listener. */
  readonly requestSignal: AbortSignal | undefined;
  /** Who writes, which the controller recognises in the events that the run's writes cause. */
  readonly origin: string;
  /** Of requests that are sent in another user's name. */
  readonly headers?: HeaderValues | undefined;
  /** @default the controller's name */
  readonly manager?: string | undefined;
  /** The server checks all that the run writes, and stores nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** Told of what is read and written, so that what the run says repeats no sensitive value of it. */
  keep?(resource: Resource, object: unknown): void;
}
