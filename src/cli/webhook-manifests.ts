/** The manifests that modules with webhooks need besides those of controllers. */
import type { LoadedModule } from "../module/loaded-module.ts";
import type { Rule } from "../module/rbac-rules.ts";
import type { ServiceAccount } from "../module/rbac-manifests.ts";
import { certificateRules, registrationRules } from "../module/process-rules.ts";
import { crdOf } from "../resource/crd.ts";
import { CONVERSION_PATH } from "../webhook/conversion/conversion-endpoint.ts";
import { clientConfigOf, configurationsOf, registrationName } from "../webhook/registration/configurations.ts";
import { servedBy } from "../webhook/webhook-host.ts";
import { UserError } from "./usage-error.ts";
import { type Reach, reachOf, targetOf } from "./webhook-address.ts";
import { secretOf } from "./webhook-options.ts";

export interface WebhookManifestsOptions {
  readonly modules: readonly LoadedModule[];
  readonly account: ServiceAccount;
  /** The address from the command line. @default the Service that is called as the account */
  readonly reach: Parameters<typeof reachOf>[0];
  /** The Certificate of cert-manager whose authority is injected. @default the process injects its own */
  readonly certificate?: string | undefined;
  /** The configurations are deployed beside the process, which then may not create them. @default false */
  readonly areDeployed?: boolean | undefined;
}

/** Without webhooks everything is empty. */
export interface WebhookManifests {
  readonly configurations: readonly object[];
  /**
   * The configurations without their webhooks: the process that serves them fills them in, and whoever deletes the
   * manifests deletes both.
   */
  readonly shells: readonly object[];
  /** The address of the conversion webhook. */
  readonly conversion: ReturnType<typeof clientConfigOf> | undefined;
  /** The Service; empty when there is none. */
  readonly service: readonly object[];
  /** Arguments of `run`. */
  readonly args: readonly string[];
  /** Rules that are granted in the whole cluster. */
  readonly rules: readonly Rule[];
  /** Granted in the namespace of the Service. */
  readonly local: readonly { readonly namespace: string; readonly rules: readonly Rule[] }[];
}

/** The webhook port of the container. */
export const WEBHOOK_PORT = { name: "webhook", containerPort: 9443 } as const;
/** The port of a Service when the command line names none. */
const DEFAULT_PORT = 443;
const NONE: WebhookManifests = {
  configurations: [],
  shells: [],
  conversion: undefined,
  service: [],
  args: [],
  rules: [],
  local: [],
};

export function webhookManifests(options: WebhookManifestsOptions): WebhookManifests {
  const { modules, account, reach, certificate, areDeployed = false } = options;
  const { webhooks, converted } = servedBy(modules.map(({ definitions }) => definitions));
  if (webhooks.length + converted.length === 0) return NONE;
  const reachable: Reach = reachOf(reach) ?? { service: { ...account, port: DEFAULT_PORT } };
  const isService = "service" in reachable;
  const target = targetOf(reachable);
  const { mutating, validating } = configurationsOf(webhooks, {
    name: isService ? registrationName(reachable.service) : account.name,
    target,
    ownNamespaces: isService ? [reachable.service.namespace] : [],
    annotations: certificate === undefined ? undefined : { "cert-manager.io/inject-ca-from": certificate },
  });
  const configurations = [mutating, validating].filter((one) => one.webhooks.length > 0);
  const crds = converted.map((resource) => crdOf(resource).metadata.name);
  const conversion = clientConfigOf(CONVERSION_PATH, { target });
  if (!isService) return { ...NONE, configurations, conversion, rules: registrationRules(undefined, crds) };
  const { service } = reachable;
  const { name, namespace, port } = service;
  const address = `${namespace}/${name}${port === DEFAULT_PORT ? "" : `:${port}`}`;
  return {
    configurations,
    shells: configurations.map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      metadata: { ...metadata, labels: { ...managedBy(account) } },
    })),
    conversion,
    service: [serviceOf(service, account)],
    args: [`--webhook-service=${address}`, "--register-webhooks"],
    rules: registrationRules(registrationName(service), crds, { mayCreate: !areDeployed }),
    local: [{ namespace, rules: certificateRules(secretOf(service).name) }],
  };
}

/** @throws UserError when there is nothing to print. */
export function printedWebhooks({ configurations, service }: WebhookManifests): readonly object[] {
  if (configurations.length > 0) return [...configurations, ...service];
  throw new UserError("Cannot print webhook configurations: no module exports what defineWebhook returns");
}

/** Replicas that are not ready receive no requests: a replica that ends becomes unready before it stops answering. */
function serviceOf(
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: number },
  account: ServiceAccount,
): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name, labels: managedBy(account) },
    spec: {
      selector: { "app.kubernetes.io/name": account.name },
      ports: [{ name: "webhook", port, targetPort: WEBHOOK_PORT.name }],
    },
  };
}

function managedBy({ name }: ServiceAccount): Readonly<Record<string, string>> {
  return { "app.kubernetes.io/name": name, "app.kubernetes.io/managed-by": "binnacle" };
}
