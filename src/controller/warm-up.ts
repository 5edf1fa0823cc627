/** Fills the caches of a controller that is about to start, so that it can take over in one step. */
import type { InformerLease } from "../cache/informer-registry.ts";
import { declarationsOf } from "./declarations.ts";
import type { AnyController } from "./definition.ts";
import { acquireKind, needsOf } from "./needs.ts";
import type { Runtime } from "./runtime.ts";
import { within } from "./within.ts";

/**
 * The milliseconds after which a controller starts with cold caches, because the previous version should not work for
 * much longer.
 */
const PATIENCE = 5_000;

/**
 * Leases the informers of all kinds that a controller declares, and waits until they have listed, for 5 seconds at
 * most. It does not wait for a kind that does not exist or may not be listed.
 *
 * @returns the leases, to be released once the controller has its own.
 * @throws SyntaxError for an invalid selector.
 */
export async function warmUp(
  controller: AnyController,
  runtime: Pick<Runtime, "informers" | "settings" | "shards" | "clock">,
  { user, signal }: { readonly user: string; readonly signal: AbortSignal },
): Promise<Disposable> {
  using stack = new DisposableStack();
  const leases: InformerLease[] = [];
  const declarations = declarationsOf(controller);
  const { for: primary, owns, watches, reads } = declarations;
  const kinds = { for: primary === undefined ? [] : [primary], owns, watches, reads };
  for (const [option, of] of Object.entries(kinds) as [keyof typeof kinds, typeof owns][]) {
    // A replica lists only its own part of these kinds, which the controller's own leases request.
    if (runtime.shards !== undefined && (option === "for" || option === "owns")) continue;
    for (const watch of of) {
      const lease = acquireKind(runtime, watch, { needs: needsOf(declarations, option, watch), user });
      leases.push(lease);
      stack.defer(() => lease.release());
    }
  }
  const isReady = (): boolean => leases.every(({ hasSynced, informer }) => hasSynced || isHeldUp(informer.state.kind));
  if (!isReady()) {
    using listeners = new DisposableStack();
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    for (const { informer } of leases) listeners.use(informer.onChange(() => isReady() && resolve()));
    const end = (): void => resolve();
    signal.addEventListener("abort", end, { once: true });
    listeners.defer(() => signal.removeEventListener("abort", end));
    await within(PATIENCE, { work: ready, clock: runtime.clock });
  }
  return stack.move();
}

function isHeldUp(state: string): boolean {
  return state === "waiting" || state === "unavailable" || state === "stopped";
}
