/** Those who disturb a child. */
import type { Act, Case } from "./case.ts";
import { type Child, withSpellings } from "./child.ts";
import { type EditName, edits, someEdit } from "./edits.ts";
import { BACKUP, forms, type FormName, someForm } from "./forms.ts";
import { clone, type JsonMap, metaOf } from "./json.ts";
import { another, bodyOf } from "./kinds/kind.ts";
import { CONTROLLER, Stage } from "./stage.ts";

/** How often something else is tried where the server refuses what others want. */
const TRIES = 6;

/** What was done, and the child after it. */
export interface Done {
  readonly act: Act;
  readonly after: JsonMap | undefined;
}

export interface Situation {
  /** What is declared; `undefined` where no child is. */
  readonly declared: JsonMap | undefined;
  /** States of the child at earlier times. */
  readonly earlier: readonly JsonMap[];
  /** No run begins before all have acted. */
  readonly isHeld: boolean;
}

export class Others {
  readonly #case: Case;
  readonly #child: Child;

  constructor(one: Case, child: Child) {
    this.#case = one;
    this.#child = child;
  }

  /** Does something to the child, where there is one. @param chosenEdit what others want; @default anything */
  async act(situation: Situation, chosenEdit: EditName | undefined): Promise<Done | undefined> {
    const { random, kind } = this.#case;
    const live = await this.#child.get();
    if (live === undefined) return undefined;
    if (chosenEdit === undefined && random.chance(0.04)) return this.#replace(live, situation);
    if (chosenEdit === undefined && kind.scales === true && situation.isHeld && random.chance(0.1))
      return this.#scale();
    for (let tried = 0; tried < TRIES; tried++) {
      const form = someForm(random, kind.isCustom === true);
      const done = await this.#write(chosenEdit ?? someEdit(random), form, { live, ...situation });
      if (done !== undefined) return done;
    }
    return undefined;
  }

  /** Creates an object of the child's name before the controller does. */
  async precede(): Promise<Done | undefined> {
    const { kind, random, name, choice } = this.#case;
    for (let left = TRIES; left > 0; left--) {
      const body = bodyOf(kind, another(kind, choice, random));
      const named = { ...body, metadata: { ...metaOf(body), name, namespace: Stage.namespaceOf(kind) } };
      const isApplied = random.chance(0.3);
      const child = this.#child;
      const created = await (isApplied
        ? child.apply(named, "flux")
        : child.create(named, "fieldManager=kubectl-create"));
      if (created.status >= 400) continue;
      const act: Act = { edit: "precede", form: "request", requests: [`created: ${JSON.stringify(named)}`] };
      if (random.chance(0.7)) return { act, after: created.body };
      const emptied = await child.merge({ metadata: { managedFields: [{}] } });
      return { act: { ...act, requests: [...act.requests, "managedFields: [{}]"] }, after: emptied.body };
    }
    return undefined;
  }

  /** Deletes the child, and may create it anew from what was kept of it. */
  async #replace(live: JsonMap, { earlier, isHeld }: Situation): Promise<Done> {
    const { random } = this.#case;
    await this.#child.delete();
    const after = await this.#child.get();
    const deleted: Done = { act: { edit: "delete", form: "request", requests: [] }, after };
    if (!isHeld || after !== undefined || random.chance(0.4)) return deleted;
    const body = clone(random.pick([live, ...earlier]));
    for (const name of ["uid", "resourceVersion", "creationTimestamp", "generation"]) delete metaOf(body)[name];
    if (random.chance(0.5)) delete metaOf(body)["managedFields"];
    const restored = await this.#child.create(body, `fieldManager=${BACKUP}`);
    if (restored.status !== 201) return deleted;
    const act: Act = { edit: "recreate", form: "request", requests: [`POST ${JSON.stringify(body)}`] };
    return { act, after: restored.body };
  }

  async #scale(): Promise<Done> {
    const body = { spec: { replicas: this.#case.random.int(4) } };
    const { status } = await this.#child.merge(body, "/scale");
    const act: Act = { edit: "scale", form: "request", requests: [`${JSON.stringify(body)} → ${status}`] };
    return { act, after: await this.#child.get() };
  }

  async #write(
    edit: EditName,
    form: FormName,
    { live, declared: body, earlier }: Situation & { readonly live: JsonMap },
  ): Promise<Done | undefined> {
    const { random, kind, choice } = this.#case;
    const other = withSpellings(bodyOf(kind, another(kind, choice, random)));
    const declared = body === undefined ? other : withSpellings(clone(body));
    delete metaOf(declared)["name"];
    delete metaOf(declared)["namespace"];
    const { shape } = this.#child;
    const edited = edits[edit]({ live, declared, other, earlier, shape, random });
    if (edited === undefined) return undefined;
    let after: JsonMap | undefined;
    const requests: string[] = [];
    for (const request of forms[form]({ live, edited, shape, random, ours: CONTROLLER })) {
      const answer = await this.#child.send(request);
      const { method, type, manager = "nobody" } = request;
      requests.push(`${method} ${type} as ${manager}: ${JSON.stringify(request.body)} → ${answer.status}`);
      if (answer.status >= 400) break;
      after = answer.body;
    }
    return after === undefined ? undefined : { act: { edit, form, requests }, after };
  }
}
