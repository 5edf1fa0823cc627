/** CPU profiles and heap snapshots of this process, as Chrome's tools open them. */
import { Session } from "node:inspector/promises";
import { heapSnapshot } from "#runtime/heap-snapshot";
import { type Clock, sleep } from "../../platform/clock.ts";
import { Busy } from "../../server/debug/debug-app.ts";

let isProfiling = false;

/** Returns a CPU profile of so many milliseconds. @throws Busy while another one is made. */
export async function cpuProfile(
  ms: number,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<string> {
  if (isProfiling) throw new Busy("another CPU profile is being made: try again when it has ended");
  isProfiling = true;
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await sleep(ms, options).catch(() => {}); // at the end of the process the profile is what there is
    const { profile } = await session.post("Profiler.stop");
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
    isProfiling = false;
  }
}

/** The parts of a heap snapshot that name its contents. */
interface Snapshot {
  readonly snapshot: { readonly meta: Meta };
  readonly nodes: number[];
  readonly edges: readonly number[];
  strings: string[];
}

interface Meta {
  readonly node_fields: readonly string[];
  readonly node_types: readonly (readonly string[] | string)[];
  readonly edge_fields: readonly string[];
  readonly edge_types: readonly (readonly string[] | string)[];
}

/** Edges whose `name_or_index` is a number, not a name. */
const NUMBERED: ReadonlySet<string> = new Set(["element", "hidden", "weak"]);

/**
 * Returns a heap snapshot without the contents of texts, because they may be secret: a text's node says how long the
 * text is. Names of classes, functions and properties stay. It takes several times the heap's size for a moment.
 */
export async function cleanHeapSnapshot(): Promise<string> {
  const snapshot = JSON.parse(await heapSnapshot()) as Snapshot;
  const { node_fields, node_types, edge_fields, edge_types } = snapshot.snapshot.meta;
  const { nodes, edges, strings } = snapshot;
  const isKept = new Uint8Array(strings.length);
  const nodeType = node_fields.indexOf("type");
  const nodeName = node_fields.indexOf("name");
  const nodeTypes = node_types[nodeType] as readonly string[];
  const textNodes: number[] = [];
  for (let at = 0; at < nodes.length; at += node_fields.length) {
    if (nodeTypes[nodes[at + nodeType]!]!.includes("string")) textNodes.push(at + nodeName);
    else isKept[nodes[at + nodeName]!] = 1;
  }
  const edgeType = edge_fields.indexOf("type");
  const edgeName = edge_fields.indexOf("name_or_index");
  const edgeTypes = edge_types[edgeType] as readonly string[];
  for (let at = 0; at < edges.length; at += edge_fields.length) {
    if (!NUMBERED.has(edgeTypes[edges[at + edgeType]!]!)) isKept[edges[at + edgeName]!] = 1;
  }
  const indexes = new Map<string, number>();
  for (const at of textNodes) {
    const text = `[${strings[nodes[at]!]!.length} characters]`;
    let index = indexes.get(text);
    if (index === undefined) indexes.set(text, (index = strings.push(text) - 1));
    nodes[at] = index;
  }
  snapshot.strings = strings.map((text, index) => (index >= isKept.length || isKept[index] === 1 ? text : ""));
  return JSON.stringify(snapshot);
}
