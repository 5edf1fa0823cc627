/** The parts that a whole process shares. */
import type { Pause } from "../controller/pause.ts";
import type { Runtime } from "../controller/runtime.ts";
import type { Transport } from "../kube/transport/transport.ts";
import type { Health } from "../module/contributions.ts";
import type { Clock } from "../platform/clock.ts";
import type { AccountAccess } from "./account-access.ts";
import type { Elections } from "./elections.ts";
import type { Sharding } from "./sharding.ts";

/** The runtime of the controllers, with further parts that only the manager uses. */
export interface Process extends Runtime {
  /** The transport without the detour of `transport`, for callers that never run in the context of a module. */
  readonly connection: Transport;
  /**
   * Installs kinds and writes the objects of webhooks, with permissions that the modules may not have. @default
   * `transport`
   */
  readonly installer: Transport;
  /** Prevents runs from beginning. */
  readonly pause: Pause;
  readonly health: Health;
  /** The clock of requests, watches and installations. */
  readonly connectionClock: Clock;
  /** Whether modules are under development: cached objects are frozen, and mistakes are reported. */
  readonly development: boolean;
  /** Grants the permissions that modules declare; `undefined` when they have them anyway. */
  readonly access: AccountAccess | undefined;
  /** The election of a leader among the replicas. */
  readonly elections: Elections | undefined;
  /** The division of the keys among the replicas. */
  readonly sharding: Sharding | undefined;
  /** Fires when the process stops. */
  readonly stopping: AbortSignal;
}
