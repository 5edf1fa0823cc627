/** One call of an author's `default` or `validate`: its context, and the end of all work that it may still do. */
import type { Client } from "../client/client.ts";
import type { RequestContext } from "../client/client-scope.ts";
import type { WriteGate } from "../kube/transport/write-gate.ts";
import { withoutSecrets } from "../observe/known-secrets.ts";
import type { Log } from "../observe/log.ts";
import type { Logger } from "../reconcile/context.ts";
import { KeptSecrets } from "../reconcile/kept-secrets.ts";
import { noServices, type UseService } from "../reconcile/services.ts";
import type { AnyObject, Resource } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import { type SensitiveTexts, sensitiveTexts, sensitiveTextsOfKind } from "../resource/sensitive.ts";
import type { AdmissionRequest, Operation, UserInfo } from "./admission-review.ts";
import type { AdmissionContext, AnyWebhook } from "./definition.ts";

/** The parts that all calls of one webhook share. */
export interface AdmissionScope {
  readonly name: string;
  /** The module that defines the webhook, for messages. @default not named */
  readonly module?: string | undefined;
  readonly webhook: AnyWebhook;
  /** Makes the client of one call. */
  readonly clientOf: (call: RequestContext) => Client;
  readonly log: Pick<Log, "with">;
  /** The services of plugins. @default none */
  readonly services?: UseService | undefined;
}

/** The warnings and audit annotations of one request, from all webhooks of its path. */
export interface Collected {
  /** Texts, unless the author's code evades the types; the same holds for the annotations. */
  readonly warnings: unknown[];
  readonly annotations: Map<string, unknown>;
}

export class AdmissionRun implements AdmissionContext<AnyObject>, RequestContext {
  readonly request: AdmissionRequest;
  readonly #scope: AdmissionScope;
  readonly #collected: Collected;
  #closed: string | undefined;
  #onClose: (() => void) | undefined;
  #abort: AbortController | undefined;
  #client: Client | undefined;
  #log: Logger | undefined;
  #secrets: KeptSecrets | undefined;

  constructor(scope: AdmissionScope, request: AdmissionRequest, collected: Collected) {
    this.#scope = scope;
    this.request = request;
    this.#collected = collected;
    const resource = scope.webhook.for;
    const texts = resource === undefined ? textsOf(request) : sensitiveTexts(resource);
    if (texts === undefined) return;
    this.#keep(texts, request.object);
    this.#keep(texts, request.oldObject);
  }

  get operation(): Operation {
    return this.request.operation;
  }

  get old(): AnyObject | undefined {
    return this.request.operation === "UPDATE" ? (this.request.oldObject as AnyObject | undefined) : undefined;
  }

  get user(): UserInfo {
    return this.request.userInfo ?? {};
  }

  get options(): Readonly<Record<string, unknown>> {
    return this.request.options ?? {};
  }

  get dryRun(): boolean {
    return this.request.dryRun === true;
  }

  get client(): Client {
    return (this.#client ??= this.#scope.clientOf(this));
  }

  get service(): UseService {
    return this.#scope.services ?? noServices;
  }

  get log(): Logger {
    return (this.#log ??= this.#scope.log.with(this.#fields(), (text) => this.clean(text)));
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#closed !== undefined) this.#abort.abort(new Error(this.#closed));
    return this.#abort.signal;
  }

  get warn(): (message: string) => void {
    return (message) => void this.#collected.warnings.push(message);
  }

  get audit(): (key: string, value: string) => void {
    return (key, value) => void this.#collected.annotations.set(key, value);
  }

  // The members that the client needs from a run.

  get gate(): WriteGate {
    return this;
  }

  get refused(): string | undefined {
    if (this.#closed !== undefined) return this.#closed;
    if (this.#scope.webhook.sideEffects === "NoneOnDryRun") return undefined;
    return `webhook '${this.#scope.name}' declares no side effects: add \`sideEffects: "NoneOnDryRun"\``;
  }

  get requestSignal(): AbortSignal {
    return this.signal;
  }

  get origin(): string {
    return "";
  }

  keep(resource: Resource, object: unknown): void {
    const texts = sensitiveTexts(resource);
    if (texts !== undefined) this.#keep(texts, object);
  }

  /** Removes the sensitive values that the call has seen from a text. */
  clean(text: string): string {
    return this.#secrets === undefined ? withoutSecrets(text) : this.#secrets.clean(text);
  }

  /** Ends the call: its signal has fired, writes are refused, and its active requests are cut off. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#abort?.abort(new Error(reason));
    this.#onClose?.();
  }

  /** Calls one listener when the call is over, however it ends. */
  onClose(listener: () => void): void {
    this.#onClose = listener;
  }

  #keep(texts: SensitiveTexts, object: unknown): void {
    if (object !== undefined && object !== null) (this.#secrets ??= new KeptSecrets()).add(object, texts);
  }

  #fields(): object {
    const { uid, kind, name, namespace, operation, userInfo } = this.request;
    const key = name === undefined || name === "" ? undefined : keyString({ name, namespace });
    return {
      webhook: this.#scope.name,
      operation,
      kind: kind?.kind,
      ...(key !== undefined && { key }),
      user: userInfo?.username,
      uid,
    };
  }
}

/** Returns the sensitive texts: a webhook with rules may receive Secrets too, and the object may have no kind. */
function textsOf({ kind }: AdmissionRequest): SensitiveTexts | undefined {
  return kind ? sensitiveTextsOfKind(kind) : undefined;
}
