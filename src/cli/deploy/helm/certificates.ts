/** The parts of a chart for webhooks: the Service, the registrations, and an optional certificate of cert-manager. */
import type { DeployPlan } from "../deploy-plan.ts";
import { labelsOf } from "../deploy-plan.ts";
import type { Slots } from "./slots.ts";

export function webhookTemplates({ webhooks }: DeployPlan): readonly object[] {
  return [...webhooks.service, ...webhooks.shells];
}

/** The Secret of the Certificate, which the Deployment mounts. */
export function certificateSecret({ account }: Pick<DeployPlan, "account">): string {
  return `${account.name}-webhook-cert`;
}

/** Returns the certificate, with an issuer of its own if `values` name none. */
export function certificateOf(plan: DeployPlan, slots: Slots): string {
  const { name, namespace } = plan.account;
  const [service] = plan.webhooks.service as readonly { readonly metadata: { name: string; namespace: string } }[];
  const at = service?.metadata ?? plan.account;
  const host = `${at.name}.${at.namespace}.svc`;
  const metadata = { name: `${name}-webhook`, namespace, labels: labelsOf(name) };
  const apiVersion = "cert-manager.io/v1";
  const certificate = {
    apiVersion,
    kind: "Certificate",
    metadata,
    spec: {
      secretName: certificateSecret(plan),
      dnsNames: [host, `${host}.cluster.local`],
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      issuerRef: slots.block(
        `(default (dict "kind" "Issuer" "name" (printf "%s-webhook" $.Release.Name)) $.Values.webhooks.issuerRef)`,
      ),
    },
  };
  const issuer = { apiVersion, kind: "Issuer", metadata, spec: { selfSigned: {} } };
  return `${slots.render(certificate)}{{- if not $.Values.webhooks.issuerRef }}\n${slots.render(issuer)}{{- end }}\n`;
}
