/** How much of its work a controller still does. */
export type Duty =
  /** It does all of it. */
  | "reconcile"
  /** It finalizes objects that are being deleted or have ceased to be members. */
  | "drain"
  /** It finalizes and releases every object that has its finalizer, whether or not the object is being deleted. */
  | "withdraw"
  /** As `withdraw`, but without a call of the author's `finalize`, so what that would clean up stays. */
  | "release";
