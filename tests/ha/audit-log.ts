/** Reads the operators' requests from an API server's audit log while it grows. */
import { open } from "node:fs/promises";

/** Writes one line for each request of operators about Leases, and for each of their writes, with the returned objects. */
export const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: RequestResponse
  userGroups: [ha-operators]
  resources: [{ group: coordination.k8s.io, resources: [leases] }]
- level: None
  verbs: [get, list, watch]
- level: None
  resources: [{ group: authorization.k8s.io }, { group: authentication.k8s.io }]
- level: RequestResponse
  userGroups: [ha-operators]
- level: None
`;

/** A request as the server logged it. */
export interface LoggedRequest {
  /** The user, of which each process has its own. */
  readonly user: string;
  readonly verb: string;
  /** The resource, such as `widgets/status`. */
  readonly resource: string;
  readonly name: string;
  readonly code: number;
  /** Milliseconds since the epoch, by the server's clock. */
  readonly received: number;
  readonly answered: number;
  /** The revision of the returned object; `undefined` when there is none. */
  readonly revision: number | undefined;
  /** The intended holder, for a Lease that was sent. */
  readonly holder: string | undefined;
}

interface Line {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly requestObject?: { readonly spec?: { readonly holderIdentity?: string } };
  readonly responseObject?: { readonly metadata?: { readonly name?: string; readonly resourceVersion?: string } };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

const READS = new Set(["get", "list", "watch"]);

/** Whether the request changes something. */
export function isWrite({ verb }: LoggedRequest): boolean {
  return !READS.has(verb);
}

export function isOk({ code }: LoggedRequest): boolean {
  return code >= 200 && code < 300;
}

export class AuditLog {
  readonly requests: LoggedRequest[] = [];
  readonly #path: string;
  #offset = 0;
  /** The beginning of an incomplete line. */
  #rest = "";

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads what has been added since the last time. */
  async read(): Promise<void> {
    const file = await open(this.#path, "r");
    try {
      const decoder = new TextDecoder();
      const buffer = new Uint8Array(1 << 20);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, this.#offset);
        if (bytesRead === 0) return;
        // Only whole lines are decoded, so that no character is split.
        const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
        const taken = end === 0 ? bytesRead : end;
        if (end === 0 && bytesRead < buffer.length) return;
        this.#offset += taken;
        const lines = (this.#rest + decoder.decode(buffer.subarray(0, taken), { stream: true })).split("\n");
        this.#rest = lines.pop()!;
        for (const line of lines) this.#add(line);
      }
    } finally {
      await file.close();
    }
  }

  #add(text: string): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      return; // a killed server has cut the line short
    }
    if (line.requestURI.includes("dryRun=")) return;
    const { resource = "", subresource, name = "" } = line.objectRef ?? {};
    const { metadata } = line.responseObject ?? {};
    this.requests.push({
      user: line.user.username,
      verb: line.verb,
      resource: subresource === undefined ? resource : `${resource}/${subresource}`,
      name: name || (metadata?.name ?? ""),
      code: line.responseStatus?.code ?? 0,
      received: Date.parse(line.requestReceivedTimestamp),
      answered: Date.parse(line.stageTimestamp),
      revision: metadata?.resourceVersion === undefined ? undefined : Number(metadata.resourceVersion),
      holder: line.requestObject?.spec?.holderIdentity,
    });
  }
}
