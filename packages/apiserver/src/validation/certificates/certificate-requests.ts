/** Validates certificate requests: who requested what, and who may approve and sign. */
import { deepEquals } from "#platform/equality";
import { certificatesProblem, signingRequestProblem } from "../../certificates/signing-request.ts";
import type { Fields, KubeObject, WriteContext } from "../../hooks.ts";
import type { Field } from "../field.ts";
import { each, inner } from "../fill.ts";
import { differingPlaces } from "../stored-values.ts";
import { signerName } from "./signer-name.ts";
import type { RuleContext, Rules } from "../rules.ts";

const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

function requestedBy(object: KubeObject, { user }: WriteContext): void {
  const spec = inner(object, "spec");
  spec["username"] = user.username;
  spec["groups"] = [...user.groups];
  if (user.uid) spec["uid"] = user.uid;
  else delete spec["uid"];
  if (user.extra && Object.keys(user.extra).length > 0) spec["extra"] = structuredClone(user.extra) as Fields;
  else delete spec["extra"];
  delete object["status"];
  object["status"] = {};
}

const conditionsOf = (object: Fields): Fields[] => each(inner(object, "status"), "conditions");

function ofType(object: Fields, type: string): Fields[] {
  return conditionsOf(object).filter((condition) => condition["type"] === type);
}

/** Adds the times of a condition when its writer omitted them. */
function timed(next: KubeObject, old: KubeObject, now: string): void {
  const before = conditionsOf(old);
  for (const condition of conditionsOf(next)) {
    condition["lastUpdateTime"] ??= now;
    const same = before.find(({ type, status }) => type === condition["type"] && status === condition["status"]);
    condition["lastTransitionTime"] ??= same?.["lastTransitionTime"] ?? now;
  }
}

/** A writer of the status cannot change decisions; added or removed ones are rejected later. */
function keepDecisions(next: KubeObject, old: KubeObject): void {
  for (const type of ["Approved", "Denied"]) {
    const [before, after] = [ofType(old, type), ofType(next, type)];
    if (before.length !== after.length) continue;
    for (const [index, condition] of after.entries()) {
      for (const name of Object.keys(condition)) delete condition[name];
      Object.assign(condition, structuredClone(before[index]));
    }
  }
}

function checkStatus(object: Field, old: Fields, { write }: RuleContext): void {
  const conditions = object.at("status").at("conditions");
  const seen = new Set<string>();
  const types = conditionsOf(old).map(({ type }) => String(type ?? ""));
  const decided = types.includes("Approved") && types.includes("Denied");
  const repeats = new Set(types).size < types.length;
  for (const condition of conditions.items) {
    const [type, status] = [condition.at("type"), condition.at("status")];
    if (!types.includes("")) type.require();
    const isDecision = ["Approved", "Denied", "Failed"].includes(type.text);
    if (status.require()) status.oneOf(isDecision ? ["True"] : ["False", "True", "Unknown"]);
    const other = type.text === "Approved" ? "Denied" : type.text === "Denied" ? "Approved" : undefined;
    if (other !== undefined && seen.has(other) && !decided)
      conditions.with(type.text).invalid("Approved and Denied conditions are mutually exclusive");
    if (seen.has(type.text) && !repeats) type.duplicate(type.text);
    seen.add(type.text);
  }
  const certificate = object.at("status").at("certificate");
  const earlier = inner(old, "status")["certificate"];
  const isNew = certificate.text !== "" && certificate.value !== earlier;
  const problem = isNew ? certificatesProblem(Buffer.from(certificate.text, "base64").toString("latin1")) : undefined;
  if (problem !== undefined) certificate.with("<certificate data>").invalid(problem);
  for (const type of ["Approved", "Denied", "Failed"]) {
    if (ofType(object.fields, type).length < ofType(old, type).length)
      conditions.forbidden(`updates may not remove a condition of type ${JSON.stringify(type)}`);
  }
  if (write.subresource !== "approval") {
    for (const type of ["Approved", "Denied"]) changedDecision(conditions, type, ofType(old, type));
  }
  if ((certificate.value ?? "") === (earlier ?? "")) return;
  if (write.subresource !== "status") certificate.forbidden("updates may not set certificate content");
  else if (earlier) certificate.forbidden("updates may not modify existing certificate content");
}

function changedDecision(conditions: Field, type: string, before: readonly Fields[]): void {
  const after = conditions.items.map(({ fields }) => fields).filter((condition) => condition["type"] === type);
  const what = `a condition of type ${JSON.stringify(type)}`;
  if (after.length > before.length) return conditions.forbidden(`updates may not add ${what}`);
  if (after.length < before.length || deepEquals(before, after)) return;
  conditions.forbidden(`updates may not modify ${what}\n${differingPlaces(before, after)}`);
}

export const certificateRequest: Rules = {
  prepare: requestedBy,
  prepareUpdate: (next, old, { subresource, now }) => {
    next["spec"] = old["spec"];
    if (subresource === "status") keepDecisions(next, old);
    if (subresource !== "") timed(next, old, now);
  },
  check: (object) => {
    const spec = object.at("spec");
    const request = spec.at("request");
    const problem = signingRequestProblem(Buffer.from(request.text, "base64").toString("latin1"));
    if (problem !== undefined) request.invalid(problem, request.value ?? null);
    const list = spec.at("usages");
    if (list.empty) list.required();
    const seen = new Set<string>();
    for (const usage of list.items) {
      if (!usages.includes(usage.text)) usage.oneOf(usages);
      if (seen.has(usage.text)) usage.duplicate();
      seen.add(usage.text);
    }
    const signer = spec.at("signerName");
    if (signer.text === "kubernetes.io/legacy-unknown")
      signer.invalid("the legacy signerName is not allowed via this API version");
    else signerName(signer);
    const seconds = spec.at("expirationSeconds");
    if (seconds.present && seconds.number < 600)
      seconds.invalid("may not specify a duration less than 600 seconds (10 minutes)");
  },
  status: checkStatus,
  update: (object, old, context) => {
    if (context.write.subresource === "approval") checkStatus(object, old, context);
  },
  selectable: { "spec.signerName": (object) => String(inner(object, "spec")["signerName"] ?? "") },
};
