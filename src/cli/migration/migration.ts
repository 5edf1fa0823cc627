/**
 * Rewrites the stored objects of a kind, so that all of them are stored in its storage version.
 *
 * Each object is patched with only its own UID and resource version: the server encodes it again, and writes it if the
 * encoding changes. A write by anybody else since the list has the same effect, so a conflict means that nothing is
 * left to do, and nobody's write is ever undone.
 */
import { type ReceivedPage, receivedPage } from "../../kube/api/received-page.ts";
import {
  isApiError,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isUnreachable,
} from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import { sleep } from "../../platform/clock.ts";
import type { AnyObject } from "../../resource/handle.ts";
import { keyString } from "../../resource/meta.ts";
import { UserError } from "../usage-error.ts";
import {
  annotate,
  type CustomDefinition,
  isMigrated,
  MANAGER,
  objectsPath,
  readDefinition,
  setStoredVersions,
  storageVersion,
} from "./custom-definition.ts";
import { currentManagers, type Manager } from "./stale-managers.ts";

export interface MigrationOptions {
  readonly transport: Pick<Transport, "request" | "reachability">;
  readonly definition: CustomDefinition;
  /** Objects per page. */
  readonly pageSize: number;
  /** How many objects are rewritten at the same time. */
  readonly concurrency: number;
  /** Sends dry runs: the server checks the writes, and nothing changes. */
  readonly dryRun: boolean;
  /** Ends the migration after the present page. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Milliseconds before the next attempt when the server is temporarily unable. @default 500 */
  readonly retryAfter?: number | undefined;
}

export interface Progress {
  /** The number of examined objects, including those of an interrupted earlier migration. */
  readonly done: number;
  /** The total; `undefined` until the server says how many follow. */
  readonly total: number | undefined;
  readonly failed: number;
}

export interface Failure {
  /** The key, `namespace/name`. */
  readonly object: string;
  readonly message: string;
}

export interface MigrationResult extends Progress {
  /** The first failures. */
  readonly failures: readonly Failure[];
  readonly interrupted: boolean;
  /** How many objects had managers in versions that are not served. */
  readonly managersMoved: number;
  /** The present `status.storedVersions`. */
  readonly storedVersions: readonly string[];
}

/** Requests only the metadata, with the managers of fields. */
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/** The most failures that are reported in full; further ones are only counted. */
const TOLD = 10;
/** With more failures than this, something is wrong with the kind, and the migration stops. */
const MOST_FAILURES = 100;
const TRIES = 6;
const RETRY_MS = 500;

/**
 * Migrates the objects.
 *
 * @throws UserError when the definition changed so that the migration must start over, ApiError.
 */
export async function migrate(options: MigrationOptions): Promise<MigrationResult> {
  return new Migration(options).run();
}

class Migration {
  readonly #options: MigrationOptions;
  readonly #storage: string;
  readonly #path: string;
  /**
   * Whether objects are rewritten. Otherwise all of them are stored in the version already, and only their managers are
   * examined.
   */
  readonly #rewritesAll: boolean;
  readonly #failures: Failure[] = [];
  /** The definition as it was last read. */
  #definition: CustomDefinition;
  #done = 0;
  #failed = 0;
  #managersMoved = 0;
  #total: number | undefined;

  constructor(options: MigrationOptions) {
    this.#options = options;
    this.#definition = options.definition;
    this.#storage = storageVersion(options.definition);
    this.#path = objectsPath(options.definition);
    this.#rewritesAll = !isMigrated(options.definition);
  }

  async run(): Promise<MigrationResult> {
    const { signal, onProgress } = this.#options;
    const mark = this.#options.dryRun ? undefined : markOf(this.#definition);
    let token = mark?.continue;
    this.#done = mark?.objects ?? 0;
    do {
      if (signal.aborted) return this.#result({ interrupted: true });
      const page = await this.#list(token);
      this.#total = this.#done + page.items.length + (page.remaining ?? (page.next === undefined ? 0 : NaN));
      if (Number.isNaN(this.#total)) this.#total = undefined;
      await this.#rewriteAll(page.items);
      token = page.next;
      onProgress(this.#progress);
      if (this.#failed >= MOST_FAILURES) return this.#result({ interrupted: true });
      if (token !== undefined) await this.#remember({ continue: token, objects: this.#done });
    } while (token !== undefined);
    if (this.#failed === 0 && !this.#options.dryRun) await this.#finish();
    return this.#result({ interrupted: false });
  }

  get #progress(): Progress {
    return { done: this.#done, total: this.#total, failed: this.#failed };
  }

  #result({ interrupted }: { readonly interrupted: boolean }): MigrationResult {
    const storedVersions = this.#definition.status?.storedVersions ?? [];
    const managersMoved = this.#managersMoved;
    return { ...this.#progress, failures: this.#failures, interrupted, managersMoved, storedVersions };
  }

  /** Lists the next page. If the token has expired, the server returns another that continues at the same object. */
  async #list(token: string | undefined): Promise<ReceivedPage<AnyObject>> {
    const { transport, pageSize } = this.#options;
    const query = new URLSearchParams({ limit: String(pageSize), ...(token !== undefined && { continue: token }) });
    const path = this.#path;
    try {
      const answer = await this.#tried(() =>
        transport.request({ method: "GET", path, query, accept: METADATA_LIST, traffic: "list" }),
      );
      const { group, names } = this.#definition.spec;
      const type = { kind: names.kind, apiVersion: `${group}/${this.#storage}` };
      return receivedPage<AnyObject>(answer, { path, type });
    } catch (error) {
      if (token === undefined || !isGone(error)) throw error;
      const { metadata } = error.status as { readonly metadata?: { readonly continue?: string } };
      if (!metadata?.continue) this.#done = 0;
      return this.#list(metadata?.continue || undefined);
    }
  }

  async #rewriteAll(objects: readonly AnyObject[]): Promise<void> {
    const next = objects.values();
    const work = async (): Promise<void> => {
      for (const object of next) {
        await this.#rewrite(object);
        this.#done++;
        if (this.#done % 25 === 0) this.#options.onProgress(this.#progress);
      }
    };
    await Promise.all(Array.from({ length: this.#options.concurrency }, work));
  }

  async #rewrite(object: AnyObject): Promise<void> {
    let { metadata } = object;
    for (let attempt = 1; ; attempt++) {
      const managers = currentManagers(metadata.managedFields as readonly Manager[] | undefined, this.#definition);
      if (managers === undefined && !this.#rewritesAll) return;
      try {
        await this.#patch(metadata, managers);
        if (managers !== undefined) this.#managersMoved++;
        return;
      } catch (error) {
        if (!isApiError(error)) throw error;
        const { message } = error;
        const isOutdated: boolean = isConflict(error);
        if (isNotFound(error) || (isOutdated && managers === undefined)) return;
        if (!isOutdated || attempt >= TRIES) {
          this.#failed++;
          if (this.#failures.length < TOLD) this.#failures.push({ object: keyString(metadata), message });
          return;
        }
      }
      // A concurrent writer has left the managers as they were.
      const now = await this.#read(metadata);
      if (now === undefined) return;
      ({ metadata } = now);
    }
  }

  async #patch(metadata: AnyObject["metadata"], managedFields: readonly Manager[] | undefined): Promise<void> {
    const { transport, dryRun } = this.#options;
    const { uid, resourceVersion } = metadata;
    await this.#tried(() =>
      transport.request({
        method: "PATCH",
        path: this.#objectPath(metadata),
        query: `fieldManager=${MANAGER}${dryRun ? "&dryRun=All" : ""}`,
        contentType: "application/merge-patch+json",
        accept: METADATA,
        body: { metadata: { uid, resourceVersion, ...(managedFields && { managedFields }) } },
      }),
    );
  }

  async #read(metadata: AnyObject["metadata"]): Promise<AnyObject | undefined> {
    const { transport } = this.#options;
    const request = { method: "GET", path: this.#objectPath(metadata), accept: METADATA } as const;
    try {
      return await this.#tried(() => transport.request<AnyObject>(request));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #objectPath({ name, namespace }: AnyObject["metadata"]): string {
    const collection = this.#path.lastIndexOf("/");
    const place = namespace ? `/namespaces/${namespace}` : "";
    return `${this.#path.slice(0, collection)}${place}${this.#path.slice(collection)}/${name}`;
  }

  /** Repeats a request while the server, or one of its webhooks, is temporarily unavailable. */
  async #tried<T>(request: () => Promise<T>): Promise<T> {
    const { transport, signal, retryAfter = RETRY_MS } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await request();
      } catch (error) {
        if (isUnreachable(error)) await transport.reachability.wait(signal);
        else if (attempt >= TRIES || !isTransient(error)) throw error;
        else await sleep(retryAfter * 2 ** (attempt - 1));
      }
    }
  }

  /**
   * Stores where an interrupted migration continues; failed objects stay behind the mark, so that they are tried again.
   */
  async #remember(mark: Mark): Promise<void> {
    const { dryRun, transport } = this.#options;
    if (dryRun || this.#failed > 0) return;
    const text = textOfMark(mark, this.#definition);
    this.#look(await this.#tried(() => annotate(transport, this.#definition.metadata.name, { [MARK]: text })));
  }

  /**
   * Checks that no object can have been stored in another version meanwhile, which takes a different storage version or
   * two changes of the definition.
   */
  #look(definition: CustomDefinition): void {
    const before = this.#definition;
    const changes = definition.metadata.generation - before.metadata.generation;
    const isSame = definition.metadata.uid === before.metadata.uid && storageVersion(definition) === this.#storage;
    if (!isSame || changes > 1) {
      throw new UserError(
        `Cannot finish the migration to ${this.#storage}: the definition ${before.metadata.name} has changed meanwhile; run it again`,
      );
    }
    this.#definition = definition;
  }

  async #finish(): Promise<void> {
    const { transport, definition } = this.#options;
    const { name } = definition.metadata;
    do this.#look(await this.#tried(() => readDefinition(transport, name)));
    while (this.#rewritesAll && !(await setStoredVersions(transport, this.#definition, [this.#storage])));
    if (this.#rewritesAll || this.#definition.metadata.annotations?.[MARK] !== undefined)
      this.#definition = await annotate(transport, name, { [MARK]: null });
  }
}

function isTransient(error: unknown): boolean {
  if (!isApiError(error)) return false;
  return error.code >= 500 && !isForbidden(error) && !isInvalid(error);
}

const MARK = "binnacle.dev/migration";

/** The place of an interrupted migration; all objects before it have been rewritten. */
interface Mark {
  /** The list's continue token; even after it expires, the server continues at its object. */
  readonly continue: string;
  /** The number of objects before it. */
  readonly objects: number;
}

function textOfMark(mark: Mark, definition: CustomDefinition): string {
  return JSON.stringify({ ...mark, aim: aimOf(definition), generation: definition.metadata.generation });
}

/**
 * Returns the aim of a migration: the storage version, and the unserved versions in which no manager may own fields any
 * more.
 */
function aimOf(definition: CustomDefinition): string {
  const served = definition.spec.versions.filter((version) => version.served).map(({ name }) => name);
  return `${storageVersion(definition)} of ${served.sort().join(" ")}`;
}

/**
 * Returns the mark of an earlier migration, unless objects may have been stored in another version since: when the
 * storage version differs, or when the definition changed often enough to have differed for a while.
 */
function markOf(definition: CustomDefinition): Mark | undefined {
  const { metadata } = definition;
  const text = metadata.annotations?.[MARK];
  if (text === undefined) return undefined;
  let mark: Partial<Mark & { readonly aim: string; readonly generation: number }>;
  try {
    mark = (JSON.parse(text) ?? {}) as typeof mark;
  } catch {
    return undefined;
  }
  const { objects, continue: token, generation } = mark;
  if (mark.aim !== aimOf(definition) || typeof token !== "string" || typeof objects !== "number") return undefined;
  if (typeof generation !== "number" || metadata.generation - generation > 1) return undefined;
  return { continue: token, objects };
}
