/** Registers the webhooks that this binary serves with the API server, and keeps the registration current. */
import { alwaysLeader } from "../../client/leadership.ts";
import type { TrustedSource } from "../certificates/trusted-source.ts";
import type { DeclaredWebhook } from "../declared-webhook.ts";
import { CONVERSION_PATH } from "../conversion/conversion-endpoint.ts";
import {
  caBundleOf,
  clientConfigOf,
  type ConfigurationOptions,
  configurationsOf,
  leftOut,
  type OwnLeases,
  type WebhookTarget,
} from "./configurations.ts";
import { KeptObject, type KeptParts, type LiveObject, type Write } from "./kept-object.ts";
import { isAbandoned, isLent, type LentDefinition, takeOverPatch } from "./lent-conversion.ts";
import { type OwnerMark, ownerName } from "./owner-mark.ts";

export interface RegistrationOptions extends KeptParts {
  /** The name of the configurations. */
  readonly name: string;
  readonly target: WebhookTarget;
  readonly ownNamespaces: readonly string[];
  readonly ownLeases?: OwnLeases | undefined;
  readonly certificates: TrustedSource;
  /** Whether somebody else applies the configurations, and only the authorities are injected. @default false */
  readonly injectsOnly?: boolean | undefined;
  /** Whether only the CustomResourceDefinitions are kept, because nobody asked for configurations. @default false */
  readonly definitionsOnly?: boolean | undefined;
  /** Overrides the failure policy of the webhooks. @default as declared */
  readonly failurePolicy?: "Ignore" | undefined;
  /** The owner, for a registration of this process alone, which ends with it. @default all replicas share it */
  readonly owner?: OwnerMark | undefined;
  /** Called when a change by somebody else was repaired, and when the server rejects a registration. */
  readonly onRepaired?: ((kind: string) => void) | undefined;
  readonly onFailed?: ((kind: string) => void) | undefined;
}

/** The webhooks and conversions that the binary serves. */
export interface Registered {
  readonly webhooks: readonly DeclaredWebhook[];
  /** The names of the CustomResourceDefinitions whose objects it converts. */
  readonly converted: readonly string[];
  /** Whether some modules do not run; then their registrations stay as they are. */
  readonly keepsOthers: boolean;
}

const WEBHOOKS = "/apis/admissionregistration.k8s.io/v1";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface Entry {
  readonly name: string;
  readonly clientConfig: ClientConfig;
}

interface ClientConfig {
  readonly url?: string | undefined;
  readonly service?:
    { readonly namespace: string; readonly name: string; readonly path?: string | undefined } | undefined;
  readonly caBundle?: string | undefined;
}

interface LiveConfiguration extends LiveObject {
  readonly webhooks?: readonly Entry[] | undefined;
}

type LiveCrd = LiveObject & LentDefinition;

type Side = "mutating" | "validating";
const KINDS: Readonly<Record<Side, string>> = {
  mutating: "MutatingWebhookConfiguration",
  validating: "ValidatingWebhookConfiguration",
};

/** Maintains one installation's configurations, and the authorities in definitions that it converts. */
export class Registration implements AsyncDisposable {
  readonly #options: RegistrationOptions;
  readonly #configurations: readonly KeptObject<LiveConfiguration>[];
  readonly #crds = new Map<string, KeptObject<LiveCrd>>();
  readonly #subscription: Disposable;
  /** The served webhooks; until they are known, nothing is written. */
  #registered: Registered | undefined;
  /** Paths that are no longer served; entries for them are never kept. */
  readonly #withdrawn = new Set<string>();
  #ending = false;

  /** Creates a registration, which writes nothing before {@link set}. */
  constructor(options: RegistrationOptions) {
    this.#options = options;
    const sides: readonly Side[] = options.definitionsOnly === true ? [] : ["mutating", "validating"];
    this.#configurations = sides.map((side) => this.#keep(side));
    this.#subscription = options.certificates.subscribe(() => {
      for (const kept of this.#kept()) void kept.touch();
    });
  }

  /** Sets the served webhooks. New entries are registered soon. */
  set(registered: Registered): void {
    this.#registered = registered;
    for (const { path } of registered.webhooks) this.#withdrawn.delete(path);
    for (const name of registered.converted) {
      if (!this.#crds.has(name)) this.#crds.set(name, this.#keepCrd(name));
    }
    for (const [name, kept] of this.#crds) {
      if (registered.converted.includes(name)) continue;
      this.#crds.delete(name);
      void kept[Symbol.asyncDispose]();
    }
    for (const kept of this.#kept()) void kept.touch();
  }

  /**
   * Removes these paths from the registration. Resolves when they are not registered any more; until then they must
   * be served. A replica that does not lead waits until the leader has removed them.
   *
   * @param signal ends the wait; the registration follows later.
   */
  async withdraw(paths: Iterable<string>, signal: AbortSignal): Promise<void> {
    const gone = new Set(paths);
    if (this.#registered === undefined || gone.size === 0 || this.#options.injectsOnly === true) return;
    const { webhooks } = this.#registered;
    for (const path of gone) this.#withdrawn.add(path);
    this.set({ ...this.#registered, webhooks: webhooks.filter(({ path }) => !gone.has(path)) });
    const isDone = (live: LiveConfiguration | undefined): boolean =>
      !(live?.webhooks ?? []).some(({ clientConfig: one }) => this.#isOurs(one) && gone.has(this.#pathOf(one)));
    await Promise.all(this.#configurations.map((kept) => kept.seen(isDone, signal)));
  }

  /** Resolves when everything that was set is registered, or when the signal fires. */
  async inForce(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#kept()].map((kept) => kept.touch(signal)));
  }

  /** Whether every registration has this authority. @throws ApiError, UnreachableError, the signal's reason. */
  async trusts(authority: string, signal: AbortSignal): Promise<boolean> {
    const configurations = await Promise.all(this.#configurations.map((kept) => kept.read(signal)));
    const crds = await Promise.all([...this.#crds.values()].map((kept) => kept.read(signal)));
    const clients = [
      ...configurations.flatMap((one) => (one?.webhooks ?? []).map(({ clientConfig }) => clientConfig)),
      ...crds.flatMap((one) => one?.spec.conversion?.webhook?.clientConfig ?? []),
    ];
    return clients
      .filter((client) => this.#isOurs(client))
      .every(({ caBundle = "" }) => trustedBy(caBundle, authority));
  }

  /** The incorrect registrations, each with the reason. */
  get failures(): readonly string[] {
    return [...this.#kept()].flatMap((kept) => kept.failure ?? []);
  }

  /** How many webhooks should be registered. */
  get size(): number {
    return this.#registered?.webhooks.length ?? 0;
  }

  /** The namespaces whose objects some of the webhooks never receive, although they do not declare that. */
  get leftOut(): readonly string[] {
    const { ownNamespaces } = this.#options;
    return [...new Set(this.#registered?.webhooks.flatMap((webhook) => leftOut(webhook, ownNamespaces)))];
  }

  /** Removes the registrations of this process alone. @param signal ends the wait. */
  async end(signal: AbortSignal): Promise<void> {
    const { owner, leadership } = this.#options;
    if (owner === undefined || this.#registered === undefined || !leadership.isLeader) return;
    this.#ending = true;
    await Promise.all(this.#configurations.map((kept) => kept.touch(signal)));
  }

  /** Stops maintaining the registration, which stays as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await Promise.all([...this.#kept()].map((kept) => kept[Symbol.asyncDispose]()));
  }

  *#kept(): Iterable<KeptObject<LiveConfiguration> | KeptObject<LiveCrd>> {
    yield* this.#configurations;
    yield* this.#crds.values();
  }

  #keep(side: Side): KeptObject<LiveConfiguration> {
    const kind = KINDS[side];
    const { name, owner } = this.#options;
    return new KeptObject<LiveConfiguration>({
      ...this.#told(kind),
      collection: `${WEBHOOKS}/${kind.toLowerCase()}s`,
      name,
      what: `${kind} ${name}`,
      every: owner?.renewEvery,
      plan: (live) => this.#plan(side, live),
    });
  }

  #keepCrd(name: string): KeptObject<LiveCrd> {
    const kind = "CustomResourceDefinition";
    const plan = (live: LiveCrd | undefined): Write | undefined => {
      const { certificates, target } = this.#options;
      const authorities = certificates.current()?.authorities;
      const client = live?.spec.conversion?.webhook?.clientConfig;
      if (authorities === undefined || live === undefined || client === undefined) return undefined;
      if (!this.#isOurs(client)) {
        if (!this.#convertsInstead(live)) return undefined;
        const own = clientConfigOf(CONVERSION_PATH, { target, authorities });
        return { kind: "merge", body: takeOverPatch(ownerName(), own) };
      }
      const caBundle = caBundleOf(authorities);
      if (client.caBundle === caBundle) return undefined;
      return { kind: "merge", body: { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } } };
    };
    return new KeptObject<LiveCrd>({ ...this.#told(kind), collection: CRDS, name, what: `${kind} ${name}`, plan });
  }

  #told(kind: string) {
    const { transport, leadership, clock, log, onRepaired, onFailed } = this.#options;
    const reports = { onRepaired: () => onRepaired?.(kind), onFailed: () => onFailed?.(kind) };
    return { transport, leadership, clock, log, ...reports };
  }

  #plan(side: Side, live: LiveConfiguration | undefined): Write | undefined {
    const { certificates, owner, injectsOnly, ...options } = this.#options;
    const registered = this.#registered;
    if (this.#ending) return { kind: "delete" };
    if (registered === undefined) return undefined;
    const certificate = certificates.current();
    if (injectsOnly === true) return this.#injection(live, certificate?.authorities);
    // Without a certificate no request could be served.
    if (certificate === undefined && registered.webhooks.length > 0) return undefined;
    const wanted: ConfigurationOptions = { ...options, authorities: certificate?.authorities, ...owner?.metadata() };
    const configuration = configurationsOf(registered.webhooks, wanted)[side];
    const others = registered.keepsOthers ? this.#others(live, configuration.webhooks) : [];
    const webhooks = [...configuration.webhooks, ...others];
    if (webhooks.length > 0) return { kind: "apply", body: { ...configuration, webhooks } };
    return live === undefined ? undefined : { kind: "delete" };
  }

  /** Returns the change that injects the authorities; it tests each entry's name, because others may move it. */
  #injection(live: LiveConfiguration | undefined, authorities: string | undefined): Write | undefined {
    if (live === undefined || authorities === undefined) return undefined;
    const value = caBundleOf(authorities);
    const operations = (live.webhooks ?? []).flatMap(({ name, clientConfig }, index) => {
      if (!this.#isOurs(clientConfig) || clientConfig.caBundle === value) return [];
      const path = `/webhooks/${index}`;
      const isSame = { op: "test", path: `${path}/name`, value: name };
      return [isSame, { op: "add", path: `${path}/clientConfig/caBundle`, value }];
    });
    return operations.length === 0 ? undefined : { kind: "json", body: operations };
  }

  /** Returns registered webhooks that are not this process's, with the present authorities. */
  #others(live: LiveConfiguration | undefined, wanted: readonly Entry[]): readonly Entry[] {
    const { certificates, target } = this.#options;
    const authorities = certificates.current()?.authorities;
    const names = new Set(wanted.map(({ name }) => name));
    return (live?.webhooks ?? []).flatMap((entry) => {
      const path = this.#pathOf(entry.clientConfig);
      if (names.has(entry.name) || this.#withdrawn.has(path)) return [];
      if (!this.#isOurs(entry.clientConfig)) return [entry];
      return [{ ...entry, clientConfig: clientConfigOf(path, { target, authorities }) }];
    });
  }

  #isOurs({ url, service }: ClientConfig): boolean {
    const { target } = this.#options;
    if ("url" in target) return url?.startsWith(`${target.url}/`) === true;
    return service?.name === target.service.name && service.namespace === target.service.namespace;
  }

  /**
   * Whether this process takes over the conversion from the one that a definition names: the leader takes over from the
   * previous leader, and any process from one that has ended.
   */
  #convertsInstead(live: LiveCrd): boolean {
    const { owner, leadership } = this.#options;
    if (owner === undefined) return false;
    return leadership === alwaysLeader ? isAbandoned(live) : isLent(live);
  }

  #pathOf({ url, service }: ClientConfig): string {
    return url === undefined ? (service?.path ?? "/") : new URL(url).pathname;
  }
}

function trustedBy(caBundle: string, authority: string): boolean {
  return Buffer.from(caBundle, "base64").toString("utf8").includes(authority.trim());
}
