/** Thrown when a webhook could not be called, which is where `failurePolicy` applies. */
export class CallError extends Error {
  readonly webhook: string;
  /** Whether its match conditions failed, so that it was not called at all. */
  readonly isCondition: boolean;

  constructor(webhook: string, reason: string, { isCondition = false }: { readonly isCondition?: boolean } = {}) {
    super(reason);
    this.webhook = webhook;
    this.isCondition = isCondition;
  }
}
