/** The parts of the interpreter that macros work with, and what they have in common. */

export interface Node {
  readonly op: string;
  readonly args: unknown;
}
export interface Scope {
  forkWithVariable(name: string, type: unknown): Scope;
  reuse(outer: unknown): Scope;
  setIterValue(value: unknown, evaluator: unknown): Scope;
}
export interface Checker {
  check(node: Node, scope: Scope): unknown;
  getType(name: string): unknown;
}
export interface Evaluator {
  run(node: Node, scope: unknown): unknown;
}
export interface Found {
  readonly args: readonly Node[];
  readonly receiver: Node;
}
export function variableName({ op, args }: Node): string {
  if (op !== "id") throw new Error("argument must be a simple name");
  return String(args);
}
