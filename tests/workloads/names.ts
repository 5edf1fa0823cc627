/** Names for what is named by chance: the n-th ReplicaSet of a Deployment, a pod of it, an address, a time. */
import type { Happening, Loose } from "./recorder.ts";

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const address = /\b10\.(96|244)\.\d{1,3}\.\d{1,3}\b/g;

interface NamesOptions {
  /** Nodes of the situation's own, named `<letter>.<namespace>`, stand for each other. */
  readonly nodesAlike: boolean;
}

/** The names of one situation on one cluster; equal roles get equal names on the other. */
export class Names {
  /** By UID. */
  readonly #labels = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** What stands in texts, and what to put there: the longest first. */
  #replacements: [string, string][] = [];
  readonly #node: RegExp | undefined;

  constructor(happenings: readonly Happening[], { nodesAlike }: NamesOptions) {
    const [first] = happenings;
    if (nodesAlike && first !== undefined)
      this.#node = new RegExp(`\\b[a-z]\\.${first.object.metadata.namespace}\\b`, "g");
    for (const { object } of happenings) {
      if (object.kind !== "Event" && !this.#labels.has(object.metadata.uid)) this.#add(object);
    }
    this.#replacements.sort(([one], [other]) => other.length - one.length);
  }

  /** What an object is called; interchangeable ones are called the same. */
  of(object: Loose): string {
    return this.#labels.get(object.metadata.uid) ?? `${object.kind}/${object.metadata.name}`;
  }

  text(text: string): string {
    let result = text;
    for (const [name, replacement] of this.#replacements) {
      if (result.includes(name)) result = result.replaceAll(name, replacement);
    }
    if (this.#node !== undefined) result = result.replace(this.#node, "<node>");
    return result
      .replace(uid, (match) => `<uid of ${this.#labels.get(match) ?? "somebody"}>`)
      .replace(time, "<time>")
      .replace(address, "<address>");
  }

  #add(object: Loose): void {
    const { name, uid, labels = {}, ownerReferences = [] } = object.metadata;
    // The pods of a StatefulSet have names, although they say what they would be generated from.
    const generateName =
      labels["statefulset.kubernetes.io/pod-name"] === name ? undefined : object.metadata.generateName;
    const controller = ownerReferences.find((one: Loose) => one.controller === true);
    const owner = controller && (this.#labels.get(controller.uid) ?? `${controller.kind}/${controller.name}`);
    const plain = `${object.kind}/${name}`;
    if (object.kind === "Pod" && generateName) {
      const index = labels["batch.kubernetes.io/job-completion-index"];
      this.#name(uid, name, `Pod${index === undefined ? "" : ` ${index}`} of ${this.#shown(owner, generateName)}`);
    } else if (object.kind === "ReplicaSet" && owner !== undefined) {
      const label = this.#numbered(`ReplicaSet of ${owner}`);
      this.#name(uid, name, label);
      this.#replace(labels["pod-template-hash"], `<hash of ${label}>`);
    } else if (object.kind === "ControllerRevision" && owner !== undefined) {
      const label = this.#numbered(`ControllerRevision of ${owner}`);
      this.#name(uid, name, label);
      this.#replace(
        labels["controller.kubernetes.io/hash"] ?? labels["controller-revision-hash"],
        `<hash of ${label}>`,
      );
    } else if (object.kind === "Job" && controller?.kind === "CronJob" && /-\d{8,}$/.test(name)) {
      this.#name(uid, name, this.#numbered(`Job of ${owner}`));
    } else if (generateName) {
      this.#name(uid, name, `${object.kind} of ${this.#shown(owner, generateName)}`);
    } else {
      this.#labels.set(uid, plain);
    }
  }

  #shown(owner: string | undefined, generateName: string): string {
    return owner ?? `${generateName}*`;
  }

  #numbered(what: string): string {
    const count = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, count);
    return `${what} ${count}`;
  }

  #name(uid: string, name: string, label: string): void {
    this.#labels.set(uid, label);
    this.#replace(name, `<${label}>`);
  }

  #replace(name: string | undefined, replacement: string): void {
    if (name) this.#replacements.push([name, replacement]);
  }
}
