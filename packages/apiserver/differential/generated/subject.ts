/** One kind under test: its paths and its objects. */
import { apiVersionOf, pathOf, type Served } from "../discovery.ts";
import type { Sample } from "../samples/sample.ts";
import { type Loose, type Session, Share } from "../session.ts";

export class Subject {
  readonly served: Served;
  readonly sample: Sample;
  readonly session: Session;
  readonly namespace: string;
  readonly collection: string;
  readonly name: string;
  /** Sends requests that change nothing and that a server answers alike for every kind: each kind sends other ones. */
  readonly general: Share;

  /** @param general the share of what `general` sends */
  constructor(
    served: Served,
    sample: Sample,
    { session, general = 1 }: { readonly session: Session; readonly general?: number },
  ) {
    this.served = served;
    this.sample = sample;
    this.session = session;
    this.general = new Share(session, general);
    this.namespace = session.slug;
    this.collection = pathOf(served, this.namespace);
    this.name = sample.name?.(session.slug) ?? `${session.slug}-a`;
  }

  get path(): string {
    return `${this.collection}/${this.name}`;
  }

  /** Whether objects of the kind may have any name. */
  get freelyNamed(): boolean {
    return this.sample.name === undefined;
  }

  supports(verb: string): boolean {
    return this.served.verbs.includes(verb);
  }

  object(metadata: Readonly<Record<string, unknown>> = {}, fields?: Readonly<Record<string, unknown>>): Loose {
    const object = {
      apiVersion: apiVersionOf(this.served),
      kind: this.served.kind,
      metadata: { name: this.name, labels: { case: this.session.slug }, ...metadata },
      ...(fields ?? this.sample.minimal),
    };
    return JSON.parse(JSON.stringify(object).replaceAll("$NAMESPACE", this.namespace));
  }

  async prepare(): Promise<void> {
    if (this.sample.settled) this.session.settleWith(this.path, this.sample.settled);
    // A definition of an earlier case disappears a moment after its deletion.
    if (this.served.kind === "CustomResourceDefinition")
      await this.session.waitFor(this.path, (answer) => answer?.code === 404);
    if (!this.served.namespaced) return;
    await this.session.createNamespace();
  }

  /** Deletes an object at once. */
  async remove(name: string = this.name): Promise<void> {
    const path = `${this.collection}/${name}?gracePeriodSeconds=0`;
    await this.session.quietly("DELETE", path);
  }
}
