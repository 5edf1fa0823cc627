/** Why a webhook could not be asked: what `failurePolicy` is about. */
export class CallError extends Error {
  readonly webhook: string;
  /** Its conditions failed, so that it was not called at all. */
  readonly isCondition: boolean;

  constructor(webhook: string, reason: string, { isCondition = false }: { readonly isCondition?: boolean } = {}) {
    super(reason);
    this.webhook = webhook;
    this.isCondition = isCondition;
  }
}
