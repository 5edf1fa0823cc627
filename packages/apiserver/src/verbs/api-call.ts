/** One request to a resource, as it is passed to the verbs. */
import type { Admission, Authorizer, Operation, Reader, UserInfo, WriteContext } from "../hooks.ts";
import type { KindRegistry } from "../registry/kind-registry.ts";
import type { Resource } from "../registry/resource.ts";
import type { Accepted } from "../request/accept.ts";
import type { Target } from "../request/target.ts";
import type { Storage } from "../storage/storage.ts";
import { timestamp } from "../timestamp.ts";
import type { Connection } from "../authentication/identify.ts";
import type { ServiceRanges } from "../validation/core/service-ranges.ts";
import type { TokenAuthority } from "../authentication/tokens.ts";

/** The parts of the server, which all requests share. */
export interface Kernel {
  readonly storage: Storage;
  readonly registry: KindRegistry;
  readonly admission: Admission;
  readonly reader: Reader;
  readonly authorizer: Authorizer;
  readonly tokens: TokenAuthority;
  readonly ranges: ServiceRanges;
  /** The current time in milliseconds. */
  readonly now: () => number;
  /** Aborted when the server stops, which ends the watches. */
  readonly stopping: AbortSignal;
}

export interface ApiCall {
  readonly kernel: Kernel;
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly target: Target;
  readonly resource: Resource;
  readonly user: UserInfo;
  readonly connection: Connection;
  readonly accept: Accepted;
  /** The texts of the `Warning` headers. */
  readonly warnings: string[];
  /** Whether the written object has empty lists or maps, which storage does not keep. */
  hasEmpty?: boolean;
  /** Whether a custom object may have floats without a fraction, which storage turns into integers. */
  hasFloats?: boolean;
}

export function writeContext(
  { kernel, resource, target, user, warnings }: ApiCall,
  operation: Operation,
  { name, dryRun }: { readonly name: string; readonly dryRun: boolean },
): WriteContext {
  return {
    row: resource.row,
    operation,
    subresource: target.subresource,
    namespace: target.namespace,
    name,
    user,
    dryRun,
    now: timestamp(kernel.now()),
    reader: kernel.reader,
    authorizer: kernel.authorizer,
    ranges: kernel.ranges,
    warn: (message) => void warnings.push(message),
  };
}

/** Returns the field manager of a client that does not name one: its user agent up to the first slash. */
export function managerOf(fieldManager: string, request: Request): string {
  if (fieldManager !== "") return fieldManager;
  const agent = request.headers.get("user-agent") ?? "";
  let prefix = "";
  for (const character of agent.split("/")[0] ?? "") {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) continue;
    if (Buffer.byteLength(prefix + character) > 128) break;
    prefix += character;
  }
  return prefix === "" ? "unknown" : prefix;
}
