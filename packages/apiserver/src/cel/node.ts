/** A node of the parsed expression. */
export interface CelNode {
  readonly op: string;
  readonly args: unknown;
  readonly pos: number;
  readonly start: number;
  readonly end: number;
}

/** A node as the interpreter evaluates it. */
export interface LiveNode extends CelNode {
  /** Evaluates it in place of its operator's own function. */
  evaluate: (evaluator: Evaluator, node: LiveNode, scope: Scope) => unknown;
  /** Computes an operator or a function from its values; the order of the other arguments is the operator's. */
  readonly handle: (...values: readonly unknown[]) => unknown;
  readonly left: LiveNode;
  readonly right: LiveNode;
  readonly meta: {
    readonly evaluate: LiveNode["evaluate"];
    /** What a macro expands to. */
    readonly alternate?: LiveNode;
    /** A macro that evaluates itself. */
    readonly macro?: { evaluate(evaluator: Evaluator, macro: object, scope: Scope): unknown };
  };
  setMeta(name: "macro", macro: object): void;
}

/** The variables while an expression runs; only the interpreter looks into it. */
export type Scope = object;

export interface Evaluator {
  run(node: LiveNode, scope: Scope): unknown;
  /** Returns the type of a value. */
  debugType(value: unknown): {
    fieldLazy(value: unknown, name: string, node: LiveNode, evaluator: Evaluator): unknown;
  };
}
