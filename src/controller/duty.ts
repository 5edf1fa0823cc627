/** What of its work a controller still does. */
export type Duty =
  /** All of it. */
  | "reconcile"
  /** Objects that are being deleted, or are no members any more, are finalized. */
  | "drain"
  /** Every object that carries its finalizer is finalized and released, whether or not it is being deleted. */
  | "withdraw"
  /** As `withdraw`, and the author's `finalize` is not called: what it would clean up stays. */
  | "release";
