/** Stores a self-managed certificate in a Secret; the API server decides which replica issues it. */
import { followObject } from "../../kube/api/follow-object.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { Log } from "../../observe/log.ts";
import type { Clock } from "../../platform/clock.ts";
import type { CertificateStore, StoredVersion } from "./certificate-store.ts";
import { certificatesOf, type StoredCertificates } from "./stored-certificates.ts";

export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

export interface SecretStoreOptions {
  readonly transport: Pick<Transport, "request" | "stream">;
  readonly secret: SecretName;
  readonly clock: Clock;
  readonly log: Log;
}

/** The keys of `kubernetes.io/tls` as cert-manager writes them, and the authority's own key. */
const DATA = { cert: "tls.crt", key: "tls.key", authorities: "ca.crt", authorityKey: "ca.key" } as const;

interface Secret {
  readonly metadata: { readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>> | undefined;
}

export class SecretStore implements CertificateStore {
  readonly name: string;
  readonly #options: SecretStoreOptions;
  readonly #collection: string;
  readonly #path: string;

  constructor(options: SecretStoreOptions) {
    const { namespace, name } = options.secret;
    this.#options = options;
    this.name = `Secret ${namespace}/${name}`;
    this.#collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
    this.#path = `${this.#collection}/${encodeURIComponent(name)}`;
  }

  async read(signal: AbortSignal): Promise<StoredVersion> {
    try {
      const secret = await this.#options.transport.request<Secret>({ method: "GET", path: this.#path, signal });
      return { certificates: certificatesIn(secret), version: secret.metadata.resourceVersion };
    } catch (error) {
      if (isNotFound(error)) return { certificates: undefined, version: undefined };
      throw error;
    }
  }

  async write(next: StoredCertificates, replaced: string | undefined, signal: AbortSignal): Promise<boolean> {
    const isNew = replaced === undefined;
    const { namespace, name } = this.#options.secret;
    const labels = { "app.kubernetes.io/managed-by": "binnacle" };
    const body = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name, labels, ...(!isNew && { resourceVersion: replaced }) },
      type: "kubernetes.io/tls",
      data: {
        [DATA.cert]: base64(next.cert),
        [DATA.key]: base64(next.key),
        [DATA.authorities]: base64(next.authorities.join("")),
        [DATA.authorityKey]: base64(next.authorityKey),
      },
    };
    const [method, path] = isNew ? (["POST", this.#collection] as const) : (["PUT", this.#path] as const);
    try {
      await this.#options.transport.request({ method, path, query: "fieldManager=binnacle", body, signal });
      return true;
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error) || (!isNew && isNotFound(error))) return false;
      throw error;
    }
  }

  watch(onChange: () => void, signal: AbortSignal): Promise<void> {
    const { transport, secret, clock, log } = this.#options;
    let isReported = false;
    return followObject(transport, {
      collection: this.#collection,
      name: secret.name,
      clock,
      signal,
      onOpen: () => {
        isReported = false;
        onChange();
      },
      onEvent: onChange,
      onFailure: (error) => {
        if (!isReported) log.warn("Cannot watch the webhook certificate: it is read at intervals instead", { error });
        isReported = true;
      },
    });
  }
}

function certificatesIn({ data = {} }: Secret): StoredCertificates {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  return {
    authorities: certificatesOf(text(DATA.authorities)),
    authorityKey: text(DATA.authorityKey),
    cert: text(DATA.cert),
    key: text(DATA.key),
  };
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
