/**
 * Classifies requests by FlowSchemas and counts them. None is ever queued or refused.
 *
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
import type { Attributes, KubeObject, UserInfo } from "../hooks.ts";
import type { Storage } from "../storage/storage.ts";
import { inner } from "../validation/fill.ts";
import { isAbout, isForEverything, rulesFor, type UserRules } from "./flow-rules.ts";

/** A FlowSchema with the priority level that it leads to. */
export interface Flow {
  readonly schema: KubeObject;
  readonly level: KubeObject;
  /** The count of all flows with these names: it goes on when one of the two objects is replaced. */
  readonly count: Count;
}

interface Count {
  readonly schema: string;
  readonly level: string;
  requests: number;
}

/** A flow with those of its rules that are about one user. */
interface UserFlow {
  readonly flow: Flow;
  readonly rules: UserRules;
  readonly isForEverything: boolean;
}

const group = "flowcontrol.apiserver.k8s.io";

/** The default of `--max-requests-inflight` and `--max-mutating-requests-inflight` together: requests at once. */
const SEATS = 600;

export class Flows {
  readonly #storage: Storage;
  readonly #counts = new Map<string, Count>();
  /** The flows in the order in which they are tried; `undefined` after a change of a FlowSchema or level. */
  #flows: readonly Flow[] | undefined;
  /** The flows by the user's object, of which there is one for each token and each connection. */
  #byUser = new WeakMap<UserInfo, readonly UserFlow[]>();

  constructor(storage: Storage) {
    this.#storage = storage;
    for (const plural of ["flowschemas", "prioritylevelconfigurations"]) {
      storage.collection(`${group}/${plural}`).listen(() => {
        this.#flows = undefined;
        this.#byUser = new WeakMap();
      });
    }
  }

  /** Returns the flow of a request, after counting it; `undefined` for a user whom no FlowSchema names. */
  classify(user: UserInfo, attributes: () => Attributes): Flow | undefined {
    const flows = this.#flowsOf(user);
    const [first] = flows;
    let found = first?.isForEverything === true ? first : undefined;
    if (found === undefined && first !== undefined) {
      const request = attributes();
      found = flows.find(({ rules, isForEverything: isAny }) => isAny || isAbout(rules, request));
    }
    if (found === undefined) return undefined;
    found.flow.count.requests += 1;
    return found.flow;
  }

  #flowsOf(user: UserInfo): readonly UserFlow[] {
    let flows = this.#byUser.get(user);
    if (flows === undefined) {
      flows = (this.#flows ??= this.#read()).flatMap((flow) => {
        const rules = rulesFor(flow.schema, user);
        return rules.length === 0 ? [] : { flow, rules, isForEverything: isForEverything(rules) };
      });
      this.#byUser.set(user, flows);
    }
    return flows;
  }

  /** The flows by precedence; a FlowSchema without its level takes no part. */
  #read(): Flow[] {
    const levels = this.#storage.collection(`${group}/prioritylevelconfigurations`);
    const flows = this.#storage.collection(`${group}/flowschemas`).all();
    const precedence = ({ schema }: Flow): number => Number(inner(schema, "spec")["matchingPrecedence"] ?? 1000);
    return flows
      .flatMap(({ object: schema }) => {
        const name = String(inner(inner(schema, "spec"), "priorityLevelConfiguration")["name"] ?? "");
        const level = levels.get(name)?.object;
        return level === undefined ? [] : { schema, level, count: this.#countOf(schema.metadata.name ?? "", name) };
      })
      .sort((one, other) => precedence(one) - precedence(other)); // equal ones stay in the order of their names
  }

  #countOf(schema: string, level: string): Count {
    const key = `${schema}/${level}`;
    let count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, (count = { schema, level, requests: 0 }));
    return count;
  }

  /** How many requests came into each flow so far. */
  counts(): Iterable<Count> {
    return this.#counts.values();
  }

  /** Returns the number of requests at once that each priority level is entitled to by its shares. */
  seats(): ReadonlyMap<string, number> {
    const levels = this.#storage.collection(`${group}/prioritylevelconfigurations`).all();
    const shares = levels.map(({ object }) => {
      const spec = inner(object, "spec");
      const isExempt = spec["type"] === "Exempt";
      const given = inner(spec, isExempt ? "exempt" : "limited")["nominalConcurrencyShares"];
      return [object.metadata.name ?? "", Number(given ?? (isExempt ? 0 : 30))] as const;
    });
    const sum = shares.reduce((total, [, one]) => total + one, 0) || 1;
    return new Map(shares.map(([name, one]) => [name, Math.ceil((SEATS * one) / sum)]));
  }
}

/** The headers by which a response names its flow. */
export function markFlow({ headers }: Response, { schema, level }: Flow): void {
  headers.set("x-kubernetes-pf-flowschema-uid", schema.metadata.uid ?? "");
  headers.set("x-kubernetes-pf-prioritylevel-uid", level.metadata.uid ?? "");
}
