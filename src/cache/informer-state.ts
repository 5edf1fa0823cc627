/** What an informer is doing, as its users see it. */

export type InformerState =
  | { readonly kind: "starting" }
  | { readonly kind: "listing" }
  | { readonly kind: "watching" }
  /** The kind does not exist (404); it is looked for again and again. */
  | { readonly kind: "waiting"; readonly message: string }
  /** Refused (403), unreachable or failing; it is tried again. */
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

/** The state of an informer that watches several namespaces is the worst of theirs. */
export function worstOf(states: Iterable<InformerState>): InformerState {
  let worst: InformerState | undefined;
  for (const state of states) if (worst === undefined || RANK[state.kind] > RANK[worst.kind]) worst = state;
  return worst ?? { kind: "starting" };
}
