/** Plays one case on a stage: what is declared, what others do, and what is to be there afterwards. */
import { type Act, type Case, type Time } from "./case.ts";
import { Child, withSpellings } from "./child.ts";
import type { EditName } from "./edits.ts";
import { clone, equal, type JsonMap, metaOf } from "./json.ts";
import { bodyOf, type Choice, moved } from "./kinds/kind.ts";
import { anyBelow, type Holder, holds, holdersOf, type Leaves, put, shapeAt, take, valueAt } from "./leaves.ts";
import { type Done, Others } from "./others.ts";
import type { Answer } from "./server.ts";
import { CONTROLLER, Stage } from "./stage.ts";
import { counted, type Finding, hasMarks, isEmpty, lost, missing, overlapsAny, ownership, stays } from "./verdict.ts";

/** Entries of managedFields that say nothing of an act of somebody else. */
const nobody = new Set([CONTROLLER, "before-first-apply"]);
/** How often something else is tried where the server refuses what is to be declared. */
const TRIES = 12;

interface Sync {
  readonly declared: Leaves;
  readonly spelled: Leaves;
}

export class Player {
  readonly case: Case;
  readonly #stage: Stage;
  readonly #child: Child;
  readonly #others: Others;
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
    this.#child = new Child(stage, one.kind, one.name);
    this.#others = new Others(one, this.#child);
  }

  get isOver(): boolean {
    return this.case.findings.length > 0 || this.case.dropped !== undefined;
  }

  /** Creates the owner, after the child where it is to be adopted. */
  async begin(): Promise<void> {
    const { kind, state, name } = this.case;
    if (!(await this.#declare(this.case.choice))) return this.#drop("no valid child was found");
    if (state === "adopted") this.#note(await this.#others.precede());
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

  /** Others act. @param chosenEdit what they want; @default anything */
  async act(chosenEdit?: EditName): Promise<void> {
    const situation = { declared: this.#body, earlier: this.#earlier, isHeld: this.#isHeld };
    this.#note(await this.#others.act(situation, chosenEdit));
  }

  #note(done: Done | undefined): void {
    if (done === undefined) return;
    this.#acts.push(done.act);
    this.#before = done.after;
    if (done.act.form === "asUs") this.#isTainted = true;
  }

  /** Asks what an apply by a new manager would leave; no run may begin before. */
  async foresee(): Promise<void> {
    if (!this.#isHeld || this.#before === undefined || this.#body === undefined) return;
    const { status, body } = await this.#apply();
    const left = status === 200 ? await this.#withoutLast(body, this.#before) : undefined;
    this.#merged = this.#child.leaves(left ?? {});
  }

  /**
   * What the server leaves of an object that has no longer what only the sync before declared, and nothing in what is declared empty.
   *
   * @param held the object whose managers say what they have set themselves
   * @returns `undefined` where it refuses that
   */
  async #withoutLast(body: JsonMap, held: JsonMap): Promise<JsonMap | undefined> {
    const rest = clone(body);
    const now = this.#now!.declared.all;
    const theirs = holdersOf(held).filter(({ manager }) => !nobody.has(manager));
    let count = 0;
    for (const [path, leaf] of this.#last?.declared.all ?? []) {
      if (overlapsAny(now.keys(), path) || theirs.some((holder) => holds(holder, path, leaf))) continue;
      take(rest, leaf.steps);
      count++;
    }
    for (const { steps, value } of now.values()) {
      if (!isEmpty(value) || valueAt(rest, steps) === undefined) continue;
      put(rest, steps, value);
      count++;
    }
    if (count === 0) return body;
    const answer = await this.#replace(rest);
    return answer.status === 200 ? answer.body : undefined;
  }

  #apply(): Promise<Answer> {
    return this.#child.apply(this.#written(), "judge", { dryRun: true });
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
    const live = await this.#child.get();
    const before = this.#before;
    this.case.live = live;
    if (this.#body === undefined) return this.#pruned(live);
    if (live !== undefined && metaOf(live)["deletionTimestamp"] !== undefined) {
      this.#drop("the child waits for a finalizer");
      return [];
    }
    const failure = this.#stage.runs.get(this.case.name)?.failure ?? "";
    if (before !== undefined && this.#isNobodys(before)) {
      if (failure !== "") this.#drop("neither the owner reference nor the mark is left");
      if (this.isOver) return [];
    }
    const findings: Finding[] = failure === "" ? [] : [{ problem: "fails", detail: failure }];
    if (live === undefined) return [...findings, { problem: "not created", detail: "there is no child" }];
    const leaves = this.#child.leaves(live);
    const { declared, spelled } = this.#now!;
    findings.push(
      ...missing(
        declared,
        { spelled, live: leaves },
        ({ steps }) => shapeAt(this.#child.shape, steps).type !== "whole",
      ),
    );
    findings.push(...ownership(live, this.#uid));
    if (before !== undefined && !this.#isTainted && failure === "") findings.push(...this.#ofOthers(leaves, before));
    const isEntangled = findings.some(({ problem }) => problem === "stays") && !(await this.#withoutLast(live, live));
    return isEntangled ? findings.filter(({ problem }) => problem !== "stays") : findings;
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
    const before = this.#child.leaves(then);
    const holders = holdersOf(then);
    const theirs = holders.filter(({ manager }) => !nobody.has(manager));
    const around = { declared, before: this.#setByOthers(before, theirs), live, holders: theirs };
    const once = { paths: this.#ever, isRestored: this.#live !== undefined && !hasMarks(then, this.#live) };
    const losses = lost(around, this.#merged ?? this.#certain(before), once);
    if (this.#last === undefined || this.#live === undefined) return losses;
    const was = this.#child.leaves(this.#live);
    const isKnown = this.#time !== "down" || hasMarks(then, this.#live);
    const ours = holders.filter(({ manager }) => manager === CONTROLLER);
    const gone = stays({ ...around, before }, { declared: this.#last.declared, live: was, spelled });
    return [
      ...losses,
      ...gone.filter(({ detail }) => isKnown || ours.some(({ paths }) => anyBelow(paths, detail.split(":")[0]!))),
    ];
  }

  /** Without what the server itself has filled in. */
  #setByOthers(before: Leaves, holders: readonly Holder[]): Leaves {
    const was = this.#live === undefined ? undefined : this.#child.leaves(this.#live);
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
    const live = await this.#child.get();
    if (this.#body === undefined || live === undefined) return true;
    if ((await this.#replace(this.#written())).status === 200) return true;
    return (await this.#apply()).status === 200 && (await this.#withoutLast(live, live)) !== undefined;
  }

  #replace(body: JsonMap): Promise<Answer> {
    const request = { method: "PUT", type: "application/json", body, manager: "judge" } as const;
    return this.#child.send(request, { dryRun: true });
  }

  /** Begins to look for writes, after which others may write the status. */
  async listen(): Promise<void> {
    this.#stage.writes.delete(this.#child.path);
    const { kind, random } = this.case;
    if (kind.scales !== true || !random.chance(0.3)) return;
    await this.#child.merge({ status: { observedGeneration: random.int(100) } }, "/status");
  }

  /** The writes since. */
  noise(): readonly Finding[] {
    const writes = this.#stage.writes.get(this.#child.path) ?? [];
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

  /** Takes a choice that the server accepts. @returns whether there is one */
  async #declare(choice: Choice): Promise<boolean> {
    const { kind, random, name } = this.case;
    let tried = choice;
    for (let left = TRIES; left > 0; left--) {
      const body = bodyOf(kind, tried);
      const namespace = Stage.namespaceOf(kind);
      const named = { ...body, metadata: { ...metaOf(body), name, namespace } };
      const trial = { ...body, metadata: { ...metaOf(body), name: `${name}-trial`, namespace } };
      const { status, body: created } = await this.#child.create(trial, "dryRun=All");
      if (status === 201) {
        this.case.choice = tried;
        this.#body = named;
        this.#now = { declared: this.#child.leaves(withSpellings(clone(named))), spelled: this.#child.leaves(created) };
        return true;
      }
      tried = moved(kind, tried, random);
    }
    return false;
  }
}
