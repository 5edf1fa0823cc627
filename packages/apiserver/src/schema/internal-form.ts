/**
 * Formats built-in values as kube-apiserver's messages show its internal structs: with the Go names of the fields, in
 * an order other than the API's, and with empty fields.
 */
import type { Schema } from "./schema.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The Go names of fields that are not just the capitalized name. */
const names = new Map(
  `apiGroup APIGroup, apiGroups APIGroups, apiServerID APIServerID, apiVersion APIVersion, apiVersions APIVersions,
  awsElasticBlockStore AWSElasticBlockStore, bool BoolValue, bools BoolValues, caBundle CABundle, cel CEL,
  cephfs CephFS, chapAuthDiscovery DiscoveryCHAPAuth, chapAuthSession SessionCHAPAuth, cidr CIDR, cidrs CIDRs, csi CSI,
  diskURI DataDiskURI, dnsConfig DNSConfig, dnsPolicy DNSPolicy, externalID DoNotUseExternalID, fc FC, fsGroup FSGroup,
  fsGroupChangePolicy FSGroupChangePolicy, fsGroupPolicy FSGroupPolicy, fsType FSType,
  gcePersistentDisk GCEPersistentDisk, gid GID, gmsaCredentialSpec GMSACredentialSpec,
  gmsaCredentialSpecName GMSACredentialSpecName, grpc GRPC, http HTTP, httpGet HTTPGet, httpHeaders HTTPHeaders, id ID,
  int IntValue, ints IntValues, ip IP, ipBlock IPBlock, ipFamilies IPFamilies, ipFamilyPolicy IPFamilyPolicy,
  ipMode IPMode, ips IPs, iqn IQN, iscsi ISCSI, iscsiInterface ISCSIInterface, jsonPatch JSONPatch, jsonPath JSONPath,
  lastState LastTerminationState, nfs NFS, os OS, osImage OSImage, pdName PDName, pkixPublicKey PKIXPublicKey,
  qosClass QOSClass, rbd RBD, reportingComponent ReportingController, seLinuxChangePolicy SELinuxChangePolicy,
  seLinuxMount SELinuxMount, sslEnabled SSLEnabled, seLinuxOptions SELinuxOptions, storageos StorageOS, string StringValue,
  strings StringValues, tcpSocket TCPSocket, tls TLS, ttlSecondsAfterFinished TTLSecondsAfterFinished, tty TTY, uid UID,
  url URL, wwids WWIDs`
    .split(",")
    .map((pair) => pair.trim().split(" ") as [string, string]),
);

/** The Go names that differ in one struct only. */
const namesWithin: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  GlusterfsVolumeSource: { endpoints: "EndpointsName" },
  GlusterfsPersistentVolumeSource: { endpoints: "EndpointsName" },
  RBDVolumeSource: { monitors: "CephMonitors", image: "RBDImage", pool: "RBDPool", user: "RadosUser" },
  RBDPersistentVolumeSource: { monitors: "CephMonitors", image: "RBDImage", pool: "RBDPool", user: "RadosUser" },
  JSONSchemaProps: { $schema: "Schema", $ref: "Ref" },
  DeviceAttribute: { version: "VersionValue", versions: "VersionValues" },
};

const spaces = "hostNetwork hostPID hostIPC shareProcessNamespace hostUsers".split(" ");

/** The internal order of the fields whose order differs. */
const orders: Readonly<Record<string, readonly string[]>> = {
  JSONSchemaProps:
    "id $schema $ref description type nullable format title default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems multipleOf enum maxProperties minProperties required items allOf oneOf anyOf not properties additionalProperties patternProperties dependencies additionalItems definitions externalDocs example".split(
      " ",
    ),
  Volume:
    "hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs persistentVolumeClaim rbd quobyte flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume azureDisk photonPersistentDisk projected portworxVolume scaleIO storageos csi ephemeral image".split(
      " ",
    ),
  PersistentVolumeSpec:
    "gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker azureFile vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi".split(
      " ",
    ),
  PodSpec:
    "volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName automountServiceAccountToken nodeName securityContext imagePullSecrets hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations hostAliases priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources hostnameOverride schedulingGroup".split(
      " ",
    ),
  PodSecurityContext:
    "seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups supplementalGroupsPolicy fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy".split(
      " ",
    ),
  JobSpec:
    "parallelism completions podFailurePolicy successPolicy activeDeadlineSeconds backoffLimit backoffLimitPerIndex maxFailedIndexes selector manualSelector template ttlSecondsAfterFinished completionMode suspend podReplacementPolicy managedBy".split(
      " ",
    ),
};
/** Types that are the same inside and outside, and are written as in the API. */
const shared: ReadonlySet<string> = new Set([
  "LabelSelector",
  "LabelSelectorRequirement",
  "ObjectMeta",
  "OwnerReference",
  "Condition",
]);
/** Fields that are stored elsewhere or not at all. */
const absent: Readonly<Record<string, ReadonlySet<string>>> = {
  PodSpec: new Set([...spaces, "serviceAccount"]),
  NodeSpec: new Set(["podCIDR"]),
  Secret: new Set(["stringData"]),
};
const notPointers: ReadonlySet<string> = new Set([
  "ServiceAccountTokenProjection.expirationSeconds",
  "RollingUpdateStatefulSetStrategy.partition",
  "ServiceReference.port",
]);

/** The names of the volume sources in the internal order. */
export const persistentSources: readonly string[] = orders["PersistentVolumeSpec"] ?? [];

/** Formats a value. @param only the fields of a struct that are shown; all when omitted */
export function internalForm(schema: Schema, value: unknown, only?: readonly string[]): unknown {
  const go = schema.go;
  if (value === undefined || value === null) {
    if (go?.pointer === true || !schema.properties || go?.own !== undefined) return zero(schema);
    return structure(schema, {}, only);
  }
  if (go?.own !== undefined) return value;
  if (Array.isArray(value)) return value.map((item) => (schema.items ? internalForm(schema.items, item) : item));
  if (typeof value !== "object") return value;
  if (schema.properties) return structure(schema, value as Fields, only);
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, item]) => [key, schema.additional ? internalForm(schema.additional, item) : item]),
  );
}

function zero({ go, type }: Schema): unknown {
  if (go?.pointer === true) return null;
  if (go?.own !== undefined) return go.own === "quantity" ? "0" : go.own === "intOrString" ? 0 : null;
  if (type === "string") return go?.type === "[]uint8" ? null : "";
  return type === "boolean" ? false : type === "integer" || type === "number" ? 0 : null;
}

function structure(schema: Schema, value: Fields, only: readonly string[] | undefined): unknown {
  const struct = schema.go?.struct ?? "";
  if (shared.has(struct)) return sorted(value);
  const shown: Record<string, unknown> = {};
  if (struct === "PodSecurityContext") {
    for (const name of spaces)
      shown[goName(struct, name)] = value[name] ?? (name.startsWith("host") && name !== "hostUsers" ? false : null);
  }
  const properties = schema.properties ?? new Map<string, Schema>();
  for (const name of ordered([...properties.keys()], orders[struct] ?? [])) {
    const field = properties.get(name);
    if (!field || absent[struct]?.has(name) || (only && !only.includes(name))) continue;
    if (name === "apiVersion" && properties.has("kind") && properties.has("metadata")) continue;
    if (name === "kind" && properties.has("metadata")) continue;
    if (name === "metadata" && field.go?.struct === "ObjectMeta") Object.assign(shown, value[name]);
    else if (struct === "JSONSchemaProps" && field.go?.own?.startsWith("schemaOr") && value[name] !== undefined)
      shown[goName(struct, name)] = schemaChoice(field.go.own, { schema: properties.get("not"), value: value[name] });
    else shown[goName(struct, name)] = member(struct, name, { field, value });
  }
  return shown;
}

function member(
  struct: string,
  name: string,
  { field, value }: { readonly field: Schema; readonly value: Fields },
): unknown {
  if (struct === "PodSpec" && name === "securityContext") {
    const given = Object.fromEntries(
      spaces.filter((each) => value[each] !== undefined).map((each) => [each, value[each]]),
    );
    const context = value[name] as Fields | undefined;
    return context || Object.keys(given).length > 0
      ? internalForm(field, { ...context, ...given })
      : internalForm(field, undefined);
  }
  if (notPointers.has(`${struct}.${name}`)) return value[name] ?? 0;
  return internalForm(field, value[name]);
}

interface SchemaChoice {
  readonly schema: Schema | undefined;
  readonly value: unknown;
}

/** Formats what is either a schema or, by its type, a list of schemas or a boolean. */
function schemaChoice(own: string, { schema, value }: SchemaChoice): unknown {
  const shown = (one: unknown): unknown => (schema ? internalForm(schema, one) : one);
  if (own === "schemaOrBool")
    return typeof value === "boolean" ? { Allows: value, Schema: null } : { Allows: true, Schema: shown(value) };
  return Array.isArray(value)
    ? { Schema: null, JSONSchemas: value.map(shown) }
    : { Schema: shown(value), JSONSchemas: null };
}

/** Go writes maps in the order of their keys; shared structs are in the API's order. */
function sorted(value: Fields): Fields {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      if (field === undefined || (typeof field === "object" && field !== null && Object.keys(field).length === 0))
        return [];
      if (typeof field !== "object" || field === null || Array.isArray(field)) return [[name, field]];
      return [[name, Object.fromEntries(Object.entries(field).toSorted(([one], [other]) => (one < other ? -1 : 1)))]];
    }),
  );
}

function goName(struct: string, name: string): string {
  if (name.startsWith("x-kubernetes-"))
    return name
      .slice("x-kubernetes".length)
      .replaceAll(/-(.)/g, (_, first: string) => first.toUpperCase())
      .replace(/^/, "X");
  return namesWithin[struct]?.[name] ?? names.get(name) ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** Puts the fields that `order` names into that order; all others stay where they are. */
function ordered(list: readonly string[], order: readonly string[]): readonly string[] {
  if (order.length === 0) return list;
  const inOrder = order.filter((name) => list.includes(name));
  const known = new Set(inOrder);
  return list.map((name) => (known.has(name) ? (inOrder.shift() ?? name) : name));
}
