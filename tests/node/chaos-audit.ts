/** What the audit log says of replicas whose requests all carry the same ServiceAccount: the pod tells them apart. */

import { readFile } from "node:fs/promises";
import type { LoggedRequest } from "../ha/audit-log.ts";
import type { StoredLease } from "../ha/lease-history.ts";
import type { NodeOptions } from "./node.ts";

/** What the replicas write, with the objects that were answered. */
const POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  verbs: [get, list, watch]
- level: RequestResponse
  userGroups: ["system:serviceaccounts:chaos-system"]
- level: None
`;

/** What a node is started with, so that its audit log tells who wrote what. */
export const audited: NodeOptions = {
  apiserverFlags: ["--audit-policy-file=/etc/kubernetes/audit.yaml", "--audit-log-path=/var/log/audit.log"],
  files: { "audit.yaml": POLICY },
};

const POD = "authentication.kubernetes.io/pod-name";

interface Spec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly renewTime?: string;
}

interface Line {
  readonly verb: string;
  readonly user: { readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly requestObject?: { readonly spec?: Spec };
  readonly responseObject?: {
    readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
    readonly spec?: Spec;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** The requests, and every version of the Lease, in order. */
export async function readEvidence(
  file: string,
): Promise<{ readonly requests: readonly LoggedRequest[]; readonly lease: readonly StoredLease[] }> {
  const lines = (await readFile(file, "utf8")).split("\n").flatMap(parsed);
  const requests = lines.map(requestOf);
  const lease = lines.flatMap((line, index) => {
    const { resource, code, revision } = requests[index]!;
    const { holderIdentity = "", leaseDurationSeconds = 15, renewTime } = line.responseObject?.spec ?? {};
    if (resource !== "leases" || code >= 300 || revision === undefined) return [];
    const renewed = renewTime === undefined ? Date.parse(line.stageTimestamp) : Date.parse(renewTime);
    return [{ revision, holder: holderIdentity, duration: leaseDurationSeconds * 1_000, renewed }];
  });
  return { requests, lease: lease.sort((a, b) => a.revision - b.revision) };
}

/** A server that ends may cut its last line short. */
function parsed(text: string): readonly Line[] {
  try {
    return text === "" ? [] : [JSON.parse(text) as Line];
  } catch {
    return [];
  }
}

function requestOf(line: Line): LoggedRequest {
  const { resource = "", subresource, name = "" } = line.objectRef ?? {};
  const { metadata } = line.responseObject ?? {};
  return {
    user: line.user.extra?.[POD]?.[0] ?? "",
    verb: line.verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    name: name || (metadata?.name ?? ""),
    code: line.responseStatus?.code ?? 0,
    received: Date.parse(line.requestReceivedTimestamp),
    answered: Date.parse(line.stageTimestamp),
    revision: metadata?.resourceVersion === undefined ? undefined : Number(metadata.resourceVersion),
    holder: line.requestObject?.spec?.holderIdentity,
  };
}
