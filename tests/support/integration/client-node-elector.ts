/**
 * A candidate that is written with the official client for Node, for the test that ours takes turns with it on one Lease.
 *
 *     bun client-node-elector.ts SERVER NAMESPACE NAME IDENTITY SECONDS
 *
 * A Lease lasts for so many seconds, and is renewed or looked at every quarter of that. At SIGTERM it is released. The server
 * is asked over plain HTTP: the client's own TLS does not work in this runtime.
 */
import { CoordinationV1Api, KubeConfig, type V1Lease, V1MicroTime } from "@kubernetes/client-node";

const [server = "", namespace = "", name = "", identity = "", seconds = ""] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromClusterAndUser({ name: "server", server, skipTLSVerify: true }, { name: "nobody" });
const api = config.makeApiClient(CoordinationV1Api);

/** The version that was seen last, and since when: other machines' times decide nothing. */
let seen: { readonly version: string | undefined; readonly since: number } = { version: undefined, since: 0 };
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());

async function read(): Promise<V1Lease | undefined> {
  try {
    return await api.readNamespacedLease({ namespace, name });
  } catch (error) {
    if ((error as { code?: number }).code === 404) return undefined;
    throw error;
  }
}

async function takeTurn(): Promise<void> {
  const lease = await read();
  const now = new V1MicroTime();
  const claim = { holderIdentity: identity, leaseDurationSeconds: Number(seconds), renewTime: now };
  if (lease === undefined) {
    const spec = { ...claim, acquireTime: now, leaseTransitions: 0 };
    await api.createNamespacedLease({ namespace, body: { metadata: { name }, spec } });
    return;
  }
  const version = lease.metadata?.resourceVersion;
  if (seen.version !== version) seen = { version, since: performance.now() };
  const { holderIdentity = "", leaseDurationSeconds = 0, leaseTransitions = 0 } = lease.spec ?? {};
  const isOurs = holderIdentity === identity;
  const isFree = holderIdentity === "" || performance.now() - seen.since > leaseDurationSeconds * 1_000;
  if (!isOurs && !isFree) return;
  const takeover = isOurs ? {} : { acquireTime: now, leaseTransitions: leaseTransitions + 1 };
  lease.spec = Object.assign(lease.spec ?? {}, claim, takeover);
  await api.replaceNamespacedLease({ namespace, name, body: lease });
}

async function release(): Promise<void> {
  const lease = await read();
  if (lease?.spec?.holderIdentity !== identity) return;
  lease.spec.holderIdentity = "";
  await api.replaceNamespacedLease({ namespace, name, body: lease });
}

while (!stopping.signal.aborted) {
  await takeTurn().catch((error: unknown) => console.error(error));
  await Bun.sleep(Number(seconds) * 250);
}
await release();
