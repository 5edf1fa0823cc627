// Binds each claim to a volume. Nothing here makes volumes: a claim whose class has a provisioner gets the annotations
// that a provisioner waits for.
import {
  allow,
  type Client,
  defineController,
  defineIndex,
  type Definition,
  type RunEvents,
  watch,
} from "../../index.ts";
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "../../resource/builtin/index.ts";
import { claimsOf, podsWith } from "../protection/protection.ts";
import { isFinished } from "../workload/pod-state.ts";
import { bind, enterClaim, isBindCompleted } from "./bind.ts";
import { classOf, isMeantFor, matchFor, mismatch, namedClass } from "./volume-match.ts";

/** Stands for the name of a volume in the index, for claims that are not bound. */
const UNBOUND = "/";

const byVolume = defineIndex(PersistentVolumeClaim, "volume", (claim) => {
  const names = claim.spec?.volumeName ? [claim.spec.volumeName] : [];
  return isBindCompleted(claim) ? names : [UNBOUND, ...names];
});

/** @see https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding */
export function claimController(): Definition {
  return defineController({
    name: "persistentvolume-controller",
    concurrency: 1, // two claims would look at the same volume
    for: PersistentVolumeClaim,
    watches: [
      watch(PersistentVolume, {
        async enqueue({ metadata: { name } }, { client }) {
          const bound = await client.list(PersistentVolumeClaim, { index: byVolume.is(name) });
          return [...bound, ...(await client.list(PersistentVolumeClaim, { index: byVolume.is(UNBOUND) }))];
        },
      }),
      watch(StorageClass, {
        enqueue: (_, { client }) => client.list(PersistentVolumeClaim, { index: byVolume.is(UNBOUND) }),
      }),
      watch(Pod, {
        on: ({ object, old }) => object.spec.nodeName !== old?.spec.nodeName,
        enqueue: (pod) => claimsOf(pod).map((name) => ({ name, namespace: pod.metadata.namespace })),
      }),
    ],
    reads: [Node],
    uses: [
      allow(PersistentVolume, "update", "status/update"),
      allow(PersistentVolumeClaim, "update", "patch", "status/update"),
    ],
    async reconcile(claim, run) {
      if (isBindCompleted(claim)) await keepBound(claim, run);
      else if (claim.spec?.volumeName) await bindTo(claim.spec.volumeName, claim, run);
      else await findVolume(claim, run);
    },
  });
}

interface Run {
  readonly client: Client;
  readonly events: RunEvents;
}

/** Completes the binding again, or says that the volume is lost. */
async function keepBound(claim: PersistentVolumeClaim, { client, events }: Run): Promise<void> {
  const name = claim.spec?.volumeName;
  const volume = name ? await client.find(PersistentVolume, { name }) : undefined;
  const claimedBy = volume?.spec?.claimRef;
  if (volume !== undefined && (claimedBy === undefined || claimedBy.uid === claim.metadata.uid))
    return bind(client, volume, claim);
  const [reason, message] =
    volume !== undefined
      ? ["ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly"]
      : [
          "ClaimLost",
          `Bound claim has lost ${name ? "its" : "reference to"} PersistentVolume. Data on the volume is lost!`,
        ];
  if (await enterClaim(client, claim, "Lost")) events.warning(reason, message);
}

/** Binds a claim that names its volume. */
async function bindTo(name: string, claim: PersistentVolumeClaim, { client, events }: Run): Promise<void> {
  const volume = await client.find(PersistentVolume, { name });
  if (volume?.spec?.claimRef !== undefined && !isMeantFor(volume, claim))
    events.warning("FailedBinding", `volume "${name}" already bound to a different claim.`);
  else if (volume !== undefined) {
    const why = volume.spec?.claimRef === undefined ? mismatch(volume, claim) : undefined;
    if (why === undefined) return bind(client, volume, claim);
    events.warning("VolumeMismatch", `Cannot bind to requested volume "${name}": ${why}`);
  }
  await enterClaim(client, claim, "Pending");
}

/** Binds a claim to any volume that suits it, or says what it waits for. */
async function findVolume(claim: PersistentVolumeClaim, { client, events }: Run): Promise<void> {
  const className = classOf(claim);
  const storageClass = className === "" ? undefined : await client.find(StorageClass, { name: className });
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const consumers = waits ? (await podsWith(client, claim.metadata)).filter((pod) => !isFinished(pod)) : [];
  const nodeName = consumers.find(({ spec }) => spec.nodeName)?.spec.nodeName;
  const node = nodeName === undefined ? undefined : await client.find(Node, { name: nodeName });
  const isDelayed = waits && node === undefined;
  const volume = matchFor(claim, await client.list(PersistentVolume), { isDelayed, node });
  if (volume !== undefined) return bind(client, volume, claim);
  if (namedClass(claim) === undefined) {
    const chosen = await defaultClass(client);
    if (chosen !== undefined) {
      await client.update(PersistentVolumeClaim, { ...claim, spec: { ...claim.spec, storageClassName: chosen } });
      return;
    }
  }
  if (isDelayed) {
    const names = consumers.map(({ metadata }) => metadata.name).join(",");
    const pods = `waiting for pod${consumers.length > 1 ? "s" : ""} ${names} to be scheduled`;
    if (names === "") events.normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding");
    else events.normal("WaitForPodScheduled", pods);
  } else if (storageClass !== undefined) await askProvisioner(claim, { client, events, storageClass, node });
  else if (className !== "")
    events.warning("ProvisioningFailed", `storageclass.storage.k8s.io "${className}" not found`);
  else events.normal("FailedBinding", "no persistent volumes available for this claim and no storage class is set");
  if (claim.status?.phase !== "Pending") await enterClaim(client, claim, "Pending");
}

const DEFAULT = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/** The youngest of the default classes. */
async function defaultClass(client: Client): Promise<string | undefined> {
  const classes = (await client.list(StorageClass)).filter(({ metadata }) =>
    DEFAULT.some((mark) => metadata.annotations?.[mark] === "true"),
  );
  const youngest = classes.toSorted(({ metadata: one }, { metadata: other }) =>
    one.creationTimestamp === other.creationTimestamp
      ? one.name.localeCompare(other.name)
      : other.creationTimestamp.localeCompare(one.creationTimestamp),
  );
  return youngest[0]?.metadata.name;
}

const PROVISIONERS = ["volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner"];

interface Provisioning extends Run {
  readonly storageClass: StorageClass;
  /** The node of the pod for which the volume is made, where the class waits for one. */
  readonly node: Node | undefined;
}

async function askProvisioner(
  claim: PersistentVolumeClaim,
  { client, events, storageClass, node }: Provisioning,
): Promise<void> {
  const { provisioner } = storageClass;
  if (provisioner.startsWith("kubernetes.io/")) {
    events.warning("ProvisioningFailed", `no volume plugin matched name: ${provisioner}`);
    return;
  }
  const wanted: Record<string, string> = Object.fromEntries(PROVISIONERS.map((name) => [name, provisioner]));
  if (node !== undefined) wanted["volume.kubernetes.io/selected-node"] = node.metadata.name;
  const { name, namespace, annotations, uid } = claim.metadata;
  if (Object.entries(wanted).some(([key, value]) => annotations?.[key] !== value)) {
    const body = { metadata: { uid, annotations: wanted } };
    await client.patch(PersistentVolumeClaim, { name, namespace }, { type: "merge", body });
  }
  events.normal(
    "ExternalProvisioning",
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' ` +
      "or manually by the system administrator. If volume creation is delayed, please verify that " +
      "the provisioner is running and correctly registered.",
  );
}
