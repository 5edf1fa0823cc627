/** Removes the webhooks of some modules from the webhook configurations of an installation. */
import { isConflict } from "../../kube/errors/api-error.ts";
import type { Transport } from "../../kube/transport/transport.ts";
import type { LoadedModule } from "../../module/loaded-module.ts";
import { registrationName } from "../../webhook/registration/configurations.ts";
import { servedBy } from "../../webhook/webhook-host.ts";
import { deletionTarget, find, type ClusterObject, remove } from "./cluster-objects.ts";

interface Service {
  readonly namespace: string;
  readonly name: string;
}

interface Configuration extends ClusterObject {
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly service?: Service & { readonly path?: string } };
  }[];
}

const KINDS = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] as const;

/** One configuration, and the number of its webhooks that are removed. */
export interface RegisteredWebhooks {
  readonly path: string;
  readonly kind: string;
  readonly name: string;
  readonly leaving: number;
  readonly staying: number;
}

export interface AdmissionOptions {
  readonly transport: Transport;
  /** The Service of the webhooks. */
  readonly service: Service;
  readonly modules: readonly LoadedModule[];
  /**
   * The modules that stay, whose webhooks may have the same path; `undefined` when no remaining module is served there.
   */
  readonly others: readonly LoadedModule[] | undefined;
}

export async function registeredWebhooks(options: AdmissionOptions): Promise<readonly RegisteredWebhooks[]> {
  const registrations: RegisteredWebhooks[] = [];
  for (const kind of KINDS) {
    const path = pathOf(kind, options.service);
    const live = await find<Configuration>(options.transport, path);
    const { leaving, staying } = divided(live, options);
    if (live === undefined || (leaving.length === 0 && !isEmptyShell(live, options))) continue;
    registrations.push({ path, kind, name: live.metadata.name, leaving: leaving.length, staying: staying.length });
  }
  return registrations;
}

/** Removes the webhooks, and deletes configurations that become empty. */
export async function unregister(options: AdmissionOptions): Promise<void> {
  const { transport, service } = options;
  for (const kind of KINDS) {
    const path = pathOf(kind, service);
    for (;;) {
      const live = await find<Configuration>(transport, path);
      const { leaving, staying } = divided(live, options);
      if (live === undefined || (leaving.length === 0 && !isEmptyShell(live, options))) break;
      if (staying.length === 0) {
        await remove(transport, deletionTarget(path, kind, live));
        break;
      }
      try {
        await transport.request({ method: "PUT", path, body: { ...live, webhooks: staying } });
        break;
      } catch (error) {
        if (!isConflict(error)) throw error; // it has been changed meanwhile
      }
    }
  }
}

/** Whether `manifests deploy` made the configuration for a process to fill in, and no such process is left. */
function isEmptyShell({ metadata, webhooks = [] }: Configuration, { others }: AdmissionOptions): boolean {
  return (
    others === undefined && webhooks.length === 0 && metadata.labels?.["app.kubernetes.io/managed-by"] === "binnacle"
  );
}

function divided(live: Configuration | undefined, { service, modules, others }: AdmissionOptions) {
  const pathsOf = (some: readonly LoadedModule[]) =>
    new Set(servedBy(some.map(({ definitions }) => definitions)).webhooks.map(({ path }) => path));
  const remainingPaths = pathsOf(others ?? []);
  const paths = new Set([...pathsOf(modules)].filter((path) => !remainingPaths.has(path)));
  const isLeaving = ({ clientConfig }: NonNullable<Configuration["webhooks"]>[number]): boolean => {
    const { name, namespace, path = "" } = clientConfig.service ?? {};
    return name === service.name && namespace === service.namespace && (others === undefined || paths.has(path));
  };
  const webhooks = live?.webhooks ?? [];
  return { leaving: webhooks.filter(isLeaving), staying: webhooks.filter((one) => !isLeaving(one)) };
}

function pathOf(kind: string, service: Service): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s/${registrationName(service)}`;
}
