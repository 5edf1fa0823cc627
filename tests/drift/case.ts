/** One child and its history: what is declared of it, and what others do to it. */
import type { EditName } from "./edits.ts";
import type { FormName } from "./forms.ts";
import type { JsonMap } from "./json.ts";
import { allKinds } from "./kinds/all-kinds.ts";
import { type Choice, chosen, type Kind } from "./kinds/kind.ts";
import { Random } from "./random.ts";
import type { Finding } from "./verdict.ts";

export const states = ["created", "updated", "adopted", "disowned"] as const;
export type State = (typeof states)[number];

/** How it stands with the process when others act. */
export const times = ["same process", "restarted", "down"] as const;
export type Time = (typeof times)[number];

/** One act of others, as it was played. */
export interface Act {
  readonly edit: EditName | "precede" | "delete" | "recreate" | "scale";
  readonly form: FormName | "request";
  readonly requests: readonly string[];
}

/** A step that was played. */
export interface Played {
  readonly time: Time;
  readonly acts: readonly Act[];
  readonly declared: JsonMap | undefined;
}

export interface Case {
  readonly number: number;
  readonly name: string;
  readonly kind: Kind;
  readonly state: State;
  readonly random: Random;
  choice: Choice;
  readonly steps: Played[];
  /** What fell, at the last step. */
  findings: readonly Finding[];
  /** Why it was not judged to the end. */
  dropped: string | undefined;
  live: JsonMap | undefined;
}

export function newCase(seed: number, number: number, only: RegExp): Case {
  const random = new Random(`${seed}/${number}`);
  const kind = random.pick(allKinds.filter(({ kind }) => only.test(kind)));
  const state = random.pick(states);
  const choice = chosen(kind, random);
  return {
    number,
    name: `case-${number}`,
    kind,
    state,
    random,
    choice,
    steps: [],
    findings: [],
    dropped: undefined,
    live: undefined,
  };
}
