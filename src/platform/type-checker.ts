/** How the runtime checks types. */

export interface CheckTypesOptions {
  /** The folder with the declarations of the SDK, where the type checker needs them. */
  readonly sdk: string | undefined;
  /** Ends the compiler, which makes the result meaningless. */
  readonly signal?: AbortSignal | undefined;
}
