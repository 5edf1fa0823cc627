/** The state of an informer, as its users see it. */

export type InformerState =
  | { readonly kind: "starting" }
  | { readonly kind: "listing" }
  | { readonly kind: "watching" }
  /** The kind does not exist (404); the informer keeps looking for it. */
  | { readonly kind: "waiting"; readonly message: string }
  /** Requests are refused (403), fail, or do not reach the server; the informer keeps trying. */
  | { readonly kind: "unavailable"; readonly message: string; readonly code?: number | undefined }
  | { readonly kind: "stopped" };

const RANK: Readonly<Record<InformerState["kind"], number>> = {
  watching: 0,
  listing: 1,
  starting: 2,
  unavailable: 3,
  waiting: 4,
  stopped: 5,
};

/** The worst of several states: an informer of several namespaces has the worst state of its partitions. */
export function worstOf(states: Iterable<InformerState>): InformerState {
  let worst: InformerState | undefined;
  for (const state of states) if (worst === undefined || RANK[state.kind] > RANK[worst.kind]) worst = state;
  return worst ?? { kind: "starting" };
}

export function isSameState(a: InformerState, b: InformerState): boolean {
  return a.kind === b.kind && (a as { message?: string }).message === (b as { message?: string }).message;
}
