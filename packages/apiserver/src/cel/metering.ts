/**
 * Makes a parsed expression count its cost while it runs: each part charges what cel-go's plan for the same part
 * charges.
 *
 * What a part always costs is known beforehand. It is charged together with everything else that is evaluated whenever
 * the part is, so that an ordinary expression charges a few times only.
 */
import type { Optional } from "@marcbachmann/cel-js";
import type { Checked } from "./checker.ts";
import { callCostOf, type OperatorCost, operatorCostOf } from "./call-costs.ts";
import { charge } from "./cost-meter.ts";
import { celLibrary } from "./library.ts";
import { isMacro, loopShape } from "./macros.ts";
import { nameOf } from "./names.ts";
import type { CelNode, Evaluator, LiveNode, Scope } from "./node.ts";
import { unwrapped } from "./type.ts";

const newList = 10;
const newMap = 30;
const newMessage = 40;

/** Functions that are computed once, when their argument is a constant. */
const conversions = new Set("bool bytes double duration dyn int string timestamp type uint".split(" "));
const plainTypes = new Set("bool int uint double string".split(" "));
/** The types of values whose size is 1. */
const scalarTypes = new Set("bool int uint double google.protobuf.Duration google.protobuf.Timestamp".split(" "));

/**
 * @param messages the positions of maps that stand for messages
 * @returns what every evaluation costs; the rest is charged while it runs
 */
export function meter(node: CelNode, checked: Checked, messages: ReadonlySet<number> = new Set()): number {
  return new Meter(checked, messages).visit(node as LiveNode);
}

/** The loops of the interpreter, which its macros expand to. */
interface Comprehension {
  readonly iterable: LiveNode;
  condition?: (result: unknown) => boolean;
  readonly step: LiveNode;
}

class Meter {
  readonly #checked: Checked;
  readonly #messages: ReadonlySet<number>;

  constructor(checked: Checked, messages: ReadonlySet<number>) {
    this.#checked = checked;
    this.#messages = messages;
  }

  /**
   * @param isPart whether it is a branch of `?:` or an index, where reading a variable itself costs nothing
   * @returns what it costs whenever it is evaluated, which the caller charges
   */
  visit(node: LiveNode, isPart = false): number {
    const { op, args } = node;
    if (this.#isConstant(node)) return 0;
    switch (op) {
      case "id":
        return isPart ? 0 : 1;
      case ".":
      case ".?":
      case "[]":
      case "[?]":
        return this.#access(node, isPart);
      case "call":
        return this.#call(node, args as [string, LiveNode[]]);
      case "rcall":
        return this.#method(node, args as [string, LiveNode, LiveNode[]]);
      case "list":
        return newList + this.#sum(args as LiveNode[]);
      case "map":
        return (this.#messages.has(node.start) ? newMessage : newMap) + this.#sum((args as LiveNode[][]).flat());
      case "&&":
      case "||": {
        const [left, right] = args as [LiveNode, LiveNode];
        this.#visitApart(right);
        return this.visit(left);
      }
      case "?:": {
        const [condition, ...branches] = args as [LiveNode, LiveNode, LiveNode];
        for (const branch of branches) this.#visitApart(branch, true);
        return this.visit(condition);
      }
      case "!_":
      case "-_":
        return 1 + this.visit(args as LiveNode);
      default:
        return this.#operator(node, args as [LiveNode, LiveNode]);
    }
  }

  #sum(nodes: readonly LiveNode[]): number {
    return nodes.reduce((sum, node) => sum + this.visit(node), 0);
  }

  /** Visits a part that is not evaluated whenever the whole is, so that it charges itself. */
  #visitApart(node: LiveNode, isPart = false): void {
    chargeBefore(node, this.visit(node, isPart));
  }

  /** Whether cel-go computes it before the expression runs. */
  #isConstant(node: LiveNode): boolean {
    const { op, args } = node;
    switch (op) {
      case "value":
        return true;
      case "id":
        return this.#isType(node);
      case ".":
        return this.#isType(node) && !this.#checked.sees((args as [LiveNode])[0]);
      case "-_": {
        const operand = args as LiveNode;
        return operand.op === "value" && typeof operand.args !== "string";
      }
      case "list":
        return (args as LiveNode[]).every((item) => this.#isConstant(item));
      case "map":
        return !this.#messages.has(node.start) && (args as LiveNode[][]).flat().every((part) => this.#isConstant(part));
      case "call": {
        const [name, [only, ...more]] = args as [string, LiveNode[]];
        return conversions.has(name) && only !== undefined && more.length === 0 && this.#isConstant(only);
      }
      case "in":
        return this.#isSet(node) && ((args as LiveNode[])[1]!.args as unknown[]).length === 0;
      default:
        return false;
    }
  }

  #isType(node: LiveNode): boolean {
    return this.#checked.sees(node) && this.#checked.typeOf(node).kind === "type";
  }

  /** Whether it looks for a value in a list of constants, which is one step however long the list is. */
  #isSet({ op, args }: LiveNode): boolean {
    const [, list] = args as [LiveNode, LiveNode];
    const isPlain = (item: LiveNode): boolean => plainTypes.has(this.#checked.typeOf(item).name);
    return (
      op === "in" &&
      list.op === "list" &&
      (list.args as LiveNode[]).every((item) => this.#isConstant(item) && isPlain(item))
    );
  }

  #access(node: LiveNode, isPart: boolean): number {
    const [base, key] = node.args as [LiveNode, LiveNode];
    const isKeyed = node.op === "[]" || node.op === "[?]";
    // A qualified name, such as that of a variable.
    if (!isKeyed && !this.#checked.sees(base)) return isPart ? 0 : 1;
    const isPath = isVariablePath(base);
    const before = this.visit(base, isPath && isPart) + (isKeyed ? this.visit(key, true) : 0);
    // A path that begins with a variable costs one for the variable, any other one for itself.
    const path = isPath || base.op === "?:" || isPart ? 0 : 1;
    if (!node.op.includes("?") && unwrapped(this.#checked.typeOf(base)) === undefined) return before + path + 1;
    const { Optional } = celLibrary();
    const { evaluate } = node.meta;
    node.evaluate = (evaluator, self, scope) => {
      const value = evaluate(evaluator, self, scope);
      if (!(value instanceof Optional) || value.hasValue()) charge(1);
      return value;
    };
    return before + path;
  }

  #call(node: LiveNode, [name, args]: [string, LiveNode[]]): number {
    if (name === "has" && args[0] !== undefined) return this.#has(node, args[0]);
    const before = this.#sum(args);
    const cost = callCostOf(name, this.#checked.overloadsOf(node));
    if (cost === undefined) return before + 1;
    node.evaluate = (evaluator, self, scope) => {
      const values = evaluated(args, evaluator, scope);
      const value = self.handle(values, self, evaluator);
      charge(cost(values, value));
      return value;
    };
    return before;
  }

  /** Replaces the interpreter's own `has`, which takes nothing but a path of names. */
  #has(node: LiveNode, selection: LiveNode): number {
    const [holder, name] = selection.args as [LiveNode, string];
    node.setMeta("macro", {
      typeCheck: (checker: Checker, _: unknown, scope: Scope) => {
        checker.check(holder, scope);
        return checker.getType("bool");
      },
      evaluate: (evaluator: Evaluator, _: unknown, scope: Scope) => {
        const value = evaluator.run(holder, scope);
        const within = isOptional(value) ? (value.hasValue() ? value.value() : undefined) : value;
        if (within === undefined) return false;
        return evaluator.debugType(within).fieldLazy(within, name, selection, evaluator) !== undefined;
      },
    });
    return 1 + this.visit(holder, true);
  }

  #method(node: LiveNode, [name, receiver, args]: [string, LiveNode, LiveNode[]]): number {
    if (isMacro(name, args.length)) return this.#macro(node, [name, receiver, args]);
    const isNamespaced = !this.#checked.sees(receiver);
    // `or` and `orValue` evaluate their argument if they need it, and cost nothing themselves.
    if (node.meta.macro !== undefined) {
      for (const arg of args) this.#visitApart(arg);
      return this.visit(receiver);
    }
    const before = this.#sum(isNamespaced ? args : [receiver, ...args]);
    const whole = isNamespaced ? `${nameOf(receiver)}.${name}` : name;
    const cost = callCostOf(whole, this.#checked.overloadsOf(node));
    if (cost === undefined) return before + 1;
    const all = [receiver, ...args];
    node.evaluate = (evaluator, self, scope) => {
      const values = evaluated(all, evaluator, scope);
      const value = self.handle(values, evaluator, self);
      charge(cost(isNamespaced ? values.slice(1) : values, value));
      return value;
    };
    return before;
  }

  #operator(node: LiveNode, [left, right]: [LiveNode, LiveNode]): number {
    const overloads = this.#checked.overloadsOf(node);
    if (this.#isSet(node) && overloads.length === 1) return this.visit(left);
    const before = this.visit(left) + this.visit(right);
    const cost = this.#operatorCost(node, overloads);
    if (cost === undefined) return before + 1;
    node.evaluate = (evaluator, self, scope) => {
      const one = evaluator.run(left, scope);
      const other = evaluator.run(right, scope);
      charge(cost(one, other));
      return self.handle(one, other, self, evaluator);
    };
    return before;
  }

  #operatorCost(node: LiveNode, overloads: readonly string[]): OperatorCost | undefined {
    const operands = node.args as LiveNode[];
    const isEquality = node.op === "==" || node.op === "!=";
    if (isEquality && operands.every((operand) => scalarTypes.has(this.#checked.typeOf(operand).name)))
      return undefined;
    return operatorCostOf(node.op, overloads);
  }

  /**
   * The loops of cel-go read their result by name, each time for 1, and make a list for each item that they add to it.
   */
  #macro(node: LiveNode, [name, receiver, args]: [string, LiveNode, LiveNode[]]): number {
    // The value of an optional costs as much once more when it is there.
    const isOptional = name.startsWith("opt");
    if (isOptional) this.#visitApart(receiver);
    const before = isOptional ? 0 : this.visit(receiver);
    const bodies = loopShape(name, args).bodies as LiveNode[];
    const last = bodies.at(-1)!;
    const isConstant = this.#isConstant(last);
    const { alternate } = node.meta;
    if (alternate === undefined) {
      for (const body of bodies) this.#visitApart(body);
      Object.assign(node.meta.macro ?? {}, { isConstant, isTyped: this.#checked.typeOf(last).kind !== "dyn" });
      return before;
    }
    const loop = alternate.args as Comprehension;
    // A step that depends on a condition is `condition ? addition : result`.
    const added = loop.step.op === "?:" ? (loop.step.args as LiveNode[])[1]! : loop.step;
    switch (name) {
      case "all":
        chargeTests(loop, 2, 1 + this.visit(last));
        return before + 1;
      case "exists":
        chargeTests(loop, 3, 1 + this.visit(last));
        return before + 1;
      case "exists_one":
        this.#visitApart(last);
        chargeBefore(added, 2);
        return before + 2;
      case "filter":
        this.#visitApart(last);
        chargeBefore(added, 3 + newList);
        return before + 1;
      default: {
        if (bodies.length > 1) this.#visitApart(bodies[0]!);
        chargeBefore(added, 2 + (isConstant ? 0 : newList) + this.visit(last));
        return before + 1;
      }
    }
  }
}

interface Checker {
  check(node: LiveNode, scope: Scope): unknown;
  getType(name: string): unknown;
}

/** Whether it is a variable, or a field or item of one. */
function isVariablePath({ op }: LiveNode): boolean {
  return op === "id" || op === "." || op === ".?" || op === "[]" || op === "[?]";
}

function isOptional(value: unknown): value is Optional {
  return value instanceof celLibrary().Optional;
}

function evaluated(nodes: readonly LiveNode[], evaluator: Evaluator, scope: Scope): unknown[] {
  const values: unknown[] = [];
  for (const node of nodes) values.push(evaluator.run(node, scope));
  return values;
}

/** Lets a node charge before it is evaluated. */
function chargeBefore(node: LiveNode, units: number): void {
  if (units === 0) return;
  const evaluate = evaluateOf(node);
  node.evaluate = (evaluator, self, scope) => {
    charge(units);
    return evaluate(evaluator, self, scope);
  };
}

/** Returns the function that evaluates a node; the one of its class would replace itself by that at the first call. */
function evaluateOf(node: LiveNode): LiveNode["evaluate"] {
  if (Object.hasOwn(node, "evaluate")) return node.evaluate;
  const { alternate, macro, evaluate } = node.meta;
  if (alternate !== undefined) return (evaluator, _, scope) => evaluator.run(alternate, scope);
  if (macro === undefined) return evaluate;
  return (evaluator, _, scope) => macro.evaluate(evaluator, macro, scope);
}

/** Charges for the test before each item, and for what follows when the loop goes on. */
function chargeTests(loop: Comprehension, test: number, body: number): void {
  const condition = loop.condition!;
  loop.condition = (result) => {
    const goesOn = condition(result);
    charge(goesOn ? test + body : test);
    return goesOn;
  };
}
