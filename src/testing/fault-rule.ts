/** An active fault: which requests it strikes, and how often. */
import { pluralOf } from "../resource/names.ts";
import type { ActiveFault, FaultOptions } from "./faults.ts";
import type { RequestTarget } from "./request-target.ts";

/** What happens to a request that is struck. */
export type Effect =
  | { readonly kind: "unreachable" }
  | { readonly kind: "lose" }
  | { readonly kind: "late"; readonly ms: number }
  | { readonly kind: "stall"; readonly over: Promise<void> }
  | { readonly kind: "refuse"; readonly answer: (target: RequestTarget) => Response }
  | { readonly kind: "stale"; readonly answers: Map<string, { readonly body: string; readonly init: ResponseInit }> };

export interface RuleOptions extends FaultOptions {
  readonly effect: Effect;
  /** Whether it also strikes requests without a resource, such as discovery and probes. */
  readonly everything?: boolean | undefined;
  readonly onEnd?: (() => void) | undefined;
}

export class FaultRule implements ActiveFault {
  readonly effect: Effect;
  readonly #options: RuleOptions;
  readonly #remove: (rule: FaultRule) => void;
  #passed = 0;
  struck = 0;

  constructor(options: RuleOptions, remove: (rule: FaultRule) => void) {
    this.effect = options.effect;
    this.#options = options;
    this.#remove = remove;
  }

  /** Whether this request is struck, which is counted. */
  strikes(target: RequestTarget): boolean {
    const { times = Infinity, after = 0 } = this.#options;
    if (!this.concerns(target) || this.struck >= times) return false;
    if (this.#passed < after) {
      this.#passed++;
      return false;
    }
    this.struck++;
    return true;
  }

  /** Whether it applies to requests like this one. */
  concerns(target: RequestTarget): boolean {
    const { everything, module } = this.#options;
    return everything === true ? isFrom(module, target) : selects(this.#options, target);
  }

  [Symbol.dispose](): void {
    this.#remove(this);
    this.#options.onEnd?.();
  }
}

/** Whether the options' kind, verbs and function select a request. */
export function selects({ module, kind, verbs, on }: FaultOptions, target: RequestTarget): boolean {
  if (target.verb === "other" || !isFrom(module, target)) return false;
  if (kind === undefined ? target.plural === "events" : !isOf(target, kind)) return false;
  return verbs?.includes(target.verb) !== false && on?.(target) !== false;
}

/** Whether the module sent it; `undefined` stands for all modules. */
function isFrom(module: FaultOptions["module"], target: RequestTarget): boolean {
  return module === undefined || target.module === module;
}

function isOf({ group, plural }: RequestTarget, kind: NonNullable<FaultOptions["kind"]>): boolean {
  return group === kind.group && plural === (kind.plural ?? pluralOf(kind.kind.toLowerCase()));
}
