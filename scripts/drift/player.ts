/** Plays one case on a stage: what is declared, what others do, and what is to be there afterwards. */
import { type Act, type Case, type Time } from "./case.ts";
import { edits, type Ground, someEdit, type EditName } from "./edits.ts";
import { forms, type FormName, type Request, someForm } from "./forms.ts";
import { clone, equal, isMap, type JsonMap, mapAt, metaOf } from "./json.ts";
import { another, bodyOf, type Choice, moved } from "./kinds/kind.ts";
import { anyBelow, type Holder, holdersOf, leavesOf, type Leaves, shapeAt, take } from "./leaves.ts";
import type { Shape } from "./schema.ts";
import { CONTROLLER, Stage } from "./stage.ts";
import { counted, type Finding, hasMarks, lost, missing, overlapsAny, ownership, stays } from "./verdict.ts";

/** Entries of managedFields that say nothing of an act of somebody else. */
const nobody = new Set([CONTROLLER, "before-first-apply"]);
/** How often something else is tried where the server refuses what others want. */
const TRIES = 6;

interface Sync {
  readonly declared: Leaves;
  readonly spelled: Leaves;
}

export class Player {
  readonly case: Case;
  readonly #stage: Stage;
  readonly #shape: Shape;
  readonly #path: string;
  readonly #ever = new Set<string>();
  /** What others have set, by path. */
  readonly #theirs = new Map<string, string>();
  readonly #earlier: JsonMap[] = [];
  #uid = "";
  /** What is declared now; `undefined` where no child is. */
  #body: JsonMap | undefined;
  #now: Sync | undefined;
  #last: Sync | undefined;
  /** The child after the last sync. */
  #live: JsonMap | undefined;
  /** The child after what others did to it. */
  #before: JsonMap | undefined;
  /** The child as an apply by a new manager leaves it; `undefined` where that is not known. */
  #merged: Leaves | undefined;
  #isHeld = false;
  #isTainted = false;
  #isMoved = false;
  #time: Time = "same process";
  #acts: Act[] = [];

  constructor(one: Case, stage: Stage) {
    this.case = one;
    this.#stage = stage;
    this.#shape = stage.shapeOf(one.kind);
    this.#path = Stage.path(one.kind, one.name);
  }

  get isOver(): boolean {
    return this.case.findings.length > 0 || this.case.dropped !== undefined;
  }

  /** Creates the owner, after the child where it is to be adopted. */
  async begin(): Promise<void> {
    const { kind, state, random, name } = this.case;
    if (!(await this.#declare(this.case.choice))) return this.#drop("no valid child was found");
    if (state === "adopted") await this.#createTheirs(another(kind, this.case.choice, random));
    this.#stage.declared.set(name, { child: this.#body, adopt: state === "adopted" });
    const body = { apiVersion: "drift.binnacle.dev/v1", kind: "Owner", metadata: { name }, spec: {} };
    const answer = await this.#stage.send("POST", Stage.ownerPath(kind), { body });
    if (answer.status !== 201) throw new Error(`An owner is refused: ${JSON.stringify(answer.body)}`);
    this.#uid = String(metaOf(answer.body)["uid"]);
  }

  /** Whether something else is declared since the last look. */
  get isMoved(): boolean {
    return this.#isMoved;
  }

  poke(): Promise<number> {
    return this.#stage.poke(this.case.kind, this.case.name);
  }

  /** Something else is declared. */
  async move(): Promise<void> {
    const { kind, random, choice } = this.case;
    if (this.#body !== undefined && random.chance(0.08)) {
      this.#body = undefined;
      this.#now = undefined;
    } else if (!(await this.#declare(moved(kind, choice, random)))) return;
    const { name, state } = this.case;
    this.#stage.declared.set(name, { child: this.#body, adopt: state === "adopted" });
    this.#isMoved = true;
  }

  /** Begins a step. @param isHeld whether no run begins before all have acted */
  open(time: Time, isHeld: boolean): void {
    this.#time = time;
    this.#isHeld = isHeld;
    this.#isMoved = false;
    this.#acts = [];
    this.#merged = undefined;
    this.#before = this.#live;
  }

  /** Others act. @param given what they want; @default something */
  async act(given?: EditName): Promise<void> {
    const { random, kind } = this.case;
    const live = await this.#get();
    if (live === undefined) return;
    if (given === undefined && random.chance(0.03)) {
      await this.#stage.send("DELETE", this.#path, { body: { propagationPolicy: "Background" } });
      this.#acts.push({ edit: "delete", form: "DELETE", requests: [] });
      this.#before = await this.#get();
      return;
    }
    for (let tried = 0; tried < TRIES; tried++) {
      const edit = given ?? someEdit(random);
      const form = someForm(random, kind.isCustom === true);
      const after = await this.#try(edit, form, live);
      if (after === undefined) continue;
      if (form === "asUs") this.#isTainted = true;
      this.#before = after;
      return;
    }
  }

  async #try(edit: EditName, form: FormName, live: JsonMap): Promise<JsonMap | undefined> {
    const { random, kind, choice } = this.case;
    const other = withSpellings(bodyOf(kind, another(kind, choice, random)));
    const declared = this.#body === undefined ? other : withSpellings(clone(this.#body));
    delete metaOf(declared)["name"];
    delete metaOf(declared)["namespace"];
    const ground: Ground = { live, declared, other, earlier: this.#earlier, shape: this.#shape, random };
    const edited = edits[edit](ground);
    if (edited === undefined) return undefined;
    const requests = forms[form]({ live, edited, shape: this.#shape, random, ours: CONTROLLER });
    let after: JsonMap | undefined;
    const sent: string[] = [];
    for (const request of requests) {
      const { status, body } = await this.#send(request);
      sent.push(
        `${request.method} ${request.type} as ${request.manager ?? "nobody"}: ${JSON.stringify(request.body)} → ${status}`,
      );
      if (status >= 400) break;
      after = body;
    }
    if (after !== undefined) this.#acts.push({ edit, form, requests: sent });
    return after;
  }

  #send({ method, type, body, manager, force }: Request, dry = false) {
    const query = new URLSearchParams();
    if (manager !== undefined) query.set("fieldManager", manager);
    if (force === true) query.set("force", "true");
    if (dry) query.set("dryRun", "All");
    return this.#stage.send(method, `${this.#path}?${query}`, { body, type });
  }

  /** Asks what an apply by a new manager would leave; no run may begin before. */
  async foresee(): Promise<void> {
    if (!this.#isHeld || this.#before === undefined || this.#body === undefined) return;
    const { status, body } = await this.#apply();
    if (status === 200) this.#merged = this.#leaves(body);
  }

  #apply() {
    const body = this.#written();
    return this.#send(
      { method: "PATCH", type: "application/apply-patch+yaml", body, manager: "judge", force: true },
      true,
    );
  }

  /** What is declared, with the reference to the owner. */
  #written(): JsonMap {
    const body = clone(this.#body!);
    const owner = { apiVersion: "drift.binnacle.dev/v1", kind: "Owner", name: this.case.name, uid: this.#uid };
    metaOf(body)["ownerReferences"] = [{ ...owner, controller: true, blockOwnerDeletion: true }];
    return body;
  }

  /** Looks at the child once the runs are over. @returns what is wrong */
  async look(): Promise<readonly Finding[]> {
    const live = await this.#get();
    const before = this.#before;
    this.case.live = live;
    if (this.#body === undefined) return this.#pruned(live);
    const failure = this.#stage.runs.get(this.case.name)?.failure ?? "";
    if (before !== undefined && this.#isNobodys(before)) {
      if (failure !== "") this.#drop("neither the owner reference nor the mark is left");
      if (this.isOver) return [];
    }
    const found: Finding[] = failure === "" ? [] : [{ problem: "fails", detail: failure }];
    if (live === undefined) return [...found, { problem: "not created", detail: "there is no child" }];
    const leaves = this.#leaves(live);
    const { declared, spelled } = this.#now!;
    found.push(
      ...missing(declared, { spelled, live: leaves }, ({ steps }) => shapeAt(this.#shape, steps).type !== "whole"),
    );
    found.push(...ownership(live, this.#uid));
    if (before !== undefined && !this.#isTainted && failure === "") found.push(...this.#ofOthers(leaves, before));
    return found;
  }

  #pruned(live: JsonMap | undefined): readonly Finding[] {
    const before = this.#before;
    if (live === undefined || metaOf(live)["deletionTimestamp"] !== undefined || before === undefined) return [];
    const isOurs = holdersOf(before).some(({ manager }) => manager === CONTROLLER);
    const isKnown = isOurs || (this.#live !== undefined && hasMarks(before, this.#live));
    if (!isKnown || ownership(before, this.#uid).length > 0) {
      this.#drop("a child that may be somebody else's is left alone");
      return [];
    }
    return [{ problem: "not pruned", detail: `still there; ${this.#stage.runs.get(this.case.name)?.failure}` }];
  }

  /** Whether others have taken away all that says whose child it is. */
  #isNobodys(before: JsonMap): boolean {
    if (this.case.state === "adopted" || this.#live === undefined) return false;
    return ownership(before, this.#uid).length > 0 && !hasMarks(before, this.#live);
  }

  #ofOthers(live: Leaves, then: JsonMap): readonly Finding[] {
    const { declared, spelled } = this.#now!;
    const before = this.#leaves(then);
    const holders = holdersOf(then);
    const theirs = holders.filter(({ manager }) => !nobody.has(manager));
    const around = { declared, before: this.#setByOthers(before, theirs), live, holders: theirs };
    const found = lost(around, this.#merged ?? this.#certain(before), this.#ever);
    if (this.#last === undefined || this.#live === undefined) return found;
    const was = this.#leaves(this.#live);
    const isKnown = this.#time !== "down" || hasMarks(then, this.#live);
    const ours = holders.filter(({ manager }) => manager === CONTROLLER);
    const gone = stays({ ...around, before }, { declared: this.#last.declared, live: was, spelled });
    return [
      ...found,
      ...gone.filter(({ detail }) => isKnown || ours.some(({ paths }) => anyBelow(paths, detail.split(":")[0]!))),
    ];
  }

  /** Without what the server itself has filled in. */
  #setByOthers(before: Leaves, holders: readonly Holder[]): Leaves {
    const was = this.#live === undefined ? undefined : this.#leaves(this.#live);
    for (const [path, { value }] of before.all)
      if (!equal(was?.all.get(path)?.value, value)) this.#theirs.set(path, JSON.stringify(value));
    const isTheirs = (path: string, value: string): boolean =>
      this.#theirs.get(path) === value || holders.some(({ paths }) => paths.has(path));
    const all = new Map([...before.all].filter(([path, { value }]) => isTheirs(path, JSON.stringify(value))));
    return { all, orders: before.orders };
  }

  /** What stays in any case, where nobody has asked the server. */
  #certain(before: Leaves): Leaves {
    const all = new Map([...before.all].filter(([path]) => /^\/(data|metadata\/(labels|annotations))\//.test(path)));
    return { all, orders: before.orders };
  }

  /** Whether the server would let anybody write what is declared, without what was declared before. */
  async isPossible(): Promise<boolean> {
    const live = await this.#get();
    if (this.#body === undefined || live === undefined) return true;
    if (await this.#accepts(this.#written())) return true;
    if ((await this.#apply()).status !== 200) return false;
    const rest = clone(live);
    for (const [path, { steps }] of this.#last?.declared.all ?? [])
      if (!overlapsAny(this.#now!.declared.all.keys(), path)) take(rest, steps);
    return this.#accepts(rest);
  }

  async #accepts(body: JsonMap): Promise<boolean> {
    const { status } = await this.#send({ method: "PUT", type: "application/json", body, manager: "judge" }, true);
    return status === 200;
  }

  /** Begins to look for writes. */
  listen(): void {
    this.#stage.writes.delete(this.#path);
  }

  /** The writes since. */
  noise(): readonly Finding[] {
    const writes = this.#stage.writes.get(this.#path) ?? [];
    return writes.length === 0 ? [] : [{ problem: "noise", detail: writes.join("\n") }];
  }

  /** Ends the step. */
  close(findings: readonly Finding[]): void {
    this.case.steps.push({ time: this.#time, acts: this.#acts, declared: this.#body });
    this.case.findings = findings;
    if (this.isOver) return void this.#stage.declared.delete(this.case.name);
    this.#last = this.#now;
    for (const path of this.#now === undefined ? [] : counted(this.#now.declared).keys()) this.#ever.add(path);
    const live = this.case.live;
    this.#live = this.#body === undefined ? undefined : live;
    if (live !== undefined) this.#earlier.push(live);
    if (this.#earlier.length > 3) this.#earlier.shift();
  }

  #drop(reason: string): void {
    this.case.dropped = reason;
    this.#stage.declared.delete(this.case.name);
  }

  give(reason: string): void {
    this.#drop(reason);
  }

  async #get(): Promise<JsonMap | undefined> {
    const { status, body } = await this.#stage.send("GET", this.#path);
    return status === 200 ? body : undefined;
  }

  #leaves(object: JsonMap): Leaves {
    return leavesOf(object, this.#shape);
  }

  /** Takes a choice that the server accepts. @returns whether there is one */
  async #declare(choice: Choice): Promise<boolean> {
    const { kind, random, name } = this.case;
    let tried = choice;
    for (let left = TRIES * 2; left > 0; left--) {
      const body = bodyOf(kind, tried);
      const namespace = Stage.namespaceOf(kind);
      const named = { ...body, metadata: { ...metaOf(body), name, namespace } };
      const trial = { ...body, metadata: { ...metaOf(body), name: `${name}-trial`, namespace } };
      const { status, body: created } = await this.#stage.send("POST", `${Stage.path(kind)}?dryRun=All`, {
        body: trial,
      });
      if (status === 201) {
        this.case.choice = tried;
        this.#body = named;
        this.#now = { declared: this.#leaves(withSpellings(clone(named))), spelled: this.#leaves(created) };
        return true;
      }
      tried = moved(kind, tried, random);
    }
    return false;
  }

  /** Somebody else has created an object of the child's name before. */
  async #createTheirs(choice: Choice): Promise<void> {
    const { kind, random, name } = this.case;
    const namespace = Stage.namespaceOf(kind);
    let tried = choice;
    for (let left = TRIES; left > 0; left--) {
      const body = bodyOf(kind, tried);
      const named = { ...body, metadata: { ...metaOf(body), name, namespace } };
      const isApplied = random.chance(0.3);
      const { status, body: created } = isApplied
        ? await this.#send({
            method: "PATCH",
            type: "application/apply-patch+yaml",
            body: named,
            manager: "flux",
            force: true,
          })
        : await this.#stage.send("POST", `${Stage.path(kind)}?fieldManager=kubectl-create`, { body: named });
      if (status < 400) {
        this.#before = created;
        this.#acts.push({
          edit: "nothing",
          form: isApplied ? "apply" : "putBare",
          requests: [`created: ${JSON.stringify(named)}`],
        });
        if (random.chance(0.3)) {
          const body = { metadata: { managedFields: [{}] } };
          const emptied = await this.#send({
            method: "PATCH",
            type: "application/merge-patch+json",
            body,
            manager: undefined,
          });
          this.#before = emptied.body;
        }
        return;
      }
      tried = another(kind, this.case.choice, random);
    }
  }
}

/** An object in the fields that the server keeps: a Secret's texts are data. */
function withSpellings(body: JsonMap): JsonMap {
  const texts = body["stringData"];
  if (!isMap(texts)) return body;
  const data = { ...mapAt(body, "data") };
  for (const [name, text] of Object.entries(texts)) data[name] = Buffer.from(String(text)).toString("base64");
  delete body["stringData"];
  if (Object.keys(data).length > 0) body["data"] = data;
  return body;
}
