/** Kinds that kube-apiserver can decode but does not serve; its messages about them differ from those about unknown kinds. */
import type { GroupVersionKind } from "../hooks.ts";

/** Each line is a group and version with its kinds, without their lists. */
const unserved = `
admission.k8s.io/v1 AdmissionReview
admission.k8s.io/v1beta1 AdmissionReview
admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
apiextensions.k8s.io/v1beta1 CustomResourceDefinition
apiregistration.k8s.io/v1beta1 APIService
apps/v1beta1 Deployment DeploymentRollback Scale StatefulSet ControllerRevision
apps/v1beta2 Deployment Scale StatefulSet DaemonSet ReplicaSet ControllerRevision
authentication.k8s.io/v1alpha1 SelfSubjectReview
authentication.k8s.io/v1beta1 SelfSubjectReview TokenReview
authorization.k8s.io/v1beta1 SelfSubjectRulesReview SelfSubjectAccessReview SubjectAccessReview LocalSubjectAccessReview
batch/v1beta1 CronJob
certificates.k8s.io/v1alpha1 ClusterTrustBundle
certificates.k8s.io/v1beta1 CertificateSigningRequest ClusterTrustBundle PodCertificateRequest
coordination.k8s.io/v1alpha2 LeaseCandidate
coordination.k8s.io/v1beta1 Lease LeaseCandidate
discovery.k8s.io/v1beta1 EndpointSlice
events.k8s.io/v1beta1 Event
extensions/v1beta1 Deployment DeploymentRollback Scale DaemonSet Ingress ReplicaSet NetworkPolicy
flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema PriorityLevelConfiguration
flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema PriorityLevelConfiguration
flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema PriorityLevelConfiguration
imagepolicy.k8s.io/v1alpha1 ImageReview
internal.apiserver.k8s.io/v1alpha1 StorageVersion
networking.k8s.io/v1beta1 Ingress IngressClass IPAddress ServiceCIDR
node.k8s.io/v1alpha1 RuntimeClass
node.k8s.io/v1beta1 RuntimeClass
policy/v1beta1 PodDisruptionBudget Eviction
rbac.authorization.k8s.io/v1alpha1 Role RoleBinding ClusterRole ClusterRoleBinding
rbac.authorization.k8s.io/v1beta1 Role RoleBinding ClusterRole ClusterRoleBinding
resource.k8s.io/v1alpha3 DeviceTaintRule ResourcePoolStatusRequest
resource.k8s.io/v1beta1 DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1beta2 DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice
scheduling.k8s.io/v1alpha2 Workload PodGroup
scheduling.k8s.io/v1beta1 PriorityClass
meta.k8s.io/v1 Status APIVersions APIGroup APIGroupList APIResourceList
storage.k8s.io/v1alpha1 VolumeAttachment CSIStorageCapacity VolumeAttributesClass
storage.k8s.io/v1beta1 StorageClass VolumeAttachment CSIDriver CSINode CSIStorageCapacity VolumeAttributesClass
storagemigration.k8s.io/v1beta1 StorageVersionMigration
/v1 List SerializedReference RangeAllocation PodStatusResult NodeProxyOptions PodAttachOptions PodLogOptions PodExecOptions PodPortForwardOptions PodProxyOptions ServiceProxyOptions Status APIVersions APIGroup APIGroupList APIResourceList`;

/** These kinds, such as options, exist in every version of every group. */
const everywhere: ReadonlySet<string> = new Set([
  "CreateOptions",
  "DeleteOptions",
  "GetOptions",
  "ListOptions",
  "PatchOptions",
  "UpdateOptions",
  "WatchEvent",
]);

let kinds: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** Whether a kind that no path accepts is known: one of an earlier version, a list, or options. */
export function isRegistered(
  { group, version, kind }: GroupVersionKind,
  isServed: (kind: GroupVersionKind) => boolean,
): boolean {
  kinds ??= new Map(
    unserved
      .trim()
      .split("\n")
      .map((line) => {
        const [groupVersion = "", ...names] = line.split(" ");
        return [groupVersion, new Set(names)] as const;
      }),
  );
  const known = kinds.get(`${group}/${version}`);
  const single = kind.endsWith("List") ? kind.slice(0, -"List".length) : kind;
  if (known?.has(kind) === true || (known?.has(single) === true && single !== "")) return true;
  if (isServed({ group, version, kind }) || isServed({ group, version, kind: single })) return true;
  return everywhere.has(kind) && (known !== undefined || isServedVersion({ group, version }, isServed));
}

/** Every served version has at least the kinds of one of these. */
const samples = [
  "Pod",
  "Deployment",
  "Job",
  "HorizontalPodAutoscaler",
  "Ingress",
  "Role",
  "PodDisruptionBudget",
  "Lease",
  "StorageClass",
  "EndpointSlice",
  "Event",
];

function isServedVersion(
  { group, version }: Omit<GroupVersionKind, "kind">,
  isServed: (kind: GroupVersionKind) => boolean,
): boolean {
  return samples.some((kind) => isServed({ group, version, kind }));
}
