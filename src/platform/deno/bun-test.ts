/**
 * The "bun:test" of tests on Deno's test runner: a test that uses only these functions runs on both runtimes without a
 * change.
 */
import { expect as base } from "expect";

/** The matchers of Bun and of `binnacle/testing`, after `expect.extend(matchers)`. */
declare module "expect" {
  interface Matchers<R extends void | Promise<void>, T = unknown> {
    toStartWith(start: string): R;
    toEndWith(end: string): R;
    toBeString(): R;
    toBeTrue(): R;
    toBeFalse(): R;
    toBeEmpty(): R;
    toHaveCondition(type: string, expected?: ExpectedCondition): R;
    toBeControlledBy(owner: object): R;
    toHaveChildren(objects: readonly object[], names: readonly string[]): R;
  }
}

/** The condition of `binnacle/testing`. */
interface ExpectedCondition {
  readonly status?: "True" | "False" | "Unknown" | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

type Hook = () => unknown;
type Body = (...args: never[]) => unknown;

interface Group {
  readonly name: string;
  readonly outer: Group | undefined;
  readonly isSkipped: boolean;
  readonly before: Hook[];
  readonly beforeEach: Hook[];
  readonly afterEach: Hook[];
  readonly after: Hook[];
  /** Tests that were defined in it or in groups inside, and have not ended. */
  left: number;
  state: "new" | "begun" | "failed" | "ended";
  failure?: unknown;
}

interface RunnerOptions {
  readonly name: string;
  readonly ignore?: boolean;
  readonly only?: boolean;
  readonly fn: () => Promise<void>;
  readonly sanitizeOps: false;
  readonly sanitizeResources: false;
  readonly sanitizeExit: false;
}

interface Runner {
  (options: RunnerOptions): void;
  afterAll(fn: () => Promise<void>): void;
}

const runner = (): Runner => (globalThis as unknown as { readonly Deno: { readonly test: Runner } }).Deno.test;

function groupOf(name: string, outer: Group | undefined, isSkipped: boolean): Group {
  const own = { before: [], beforeEach: [], afterEach: [], after: [], left: 0, state: "new" as const };
  return { name, outer, isSkipped: isSkipped || outer?.isSkipped === true, ...own };
}

const whole: Group = groupOf("", undefined, false);
let current: Group = whole;
/** The variable with the milliseconds that each test has. */
export const TIMEOUT = "BINNACLE_TEST_TIMEOUT";
let defaultTimeout = Number(process.env[TIMEOUT] ?? 30_000);
/** Called after each test of every file. */
const witnesses: ((hasFailed: boolean | undefined) => void)[] = [];
let isEndFollowed = false;

/** Milliseconds that each test has from now on, unless it says otherwise. */
export function setDefaultTimeout(milliseconds: number): void {
  defaultTimeout = milliseconds;
}

export function beforeAll(hook: Hook): void {
  current.before.push(hook);
}

export function beforeEach(hook: Hook): void {
  current.beforeEach.push(hook);
}

export function afterEach(hook: Hook): void {
  current.afterEach.push(hook);
}

export function afterAll(hook: Hook): void {
  current.after.push(hook);
  followEnd();
}

/** Calls back after each test. */
export function afterEachTest(callback: (hasFailed: boolean | undefined) => void): void {
  witnesses.push(callback);
}

/** Tests that are filtered out never end, so remaining work is done at the end of the file. */
function followEnd(): void {
  if (isEndFollowed) return;
  isEndFollowed = true;
  runner().afterAll(async () => {
    for (const group of [...begun].toReversed()) await end(group);
  });
}

const begun = new Set<Group>();

async function begin(group: Group): Promise<void> {
  if (group.outer !== undefined) await begin(group.outer);
  if (group.state === "failed") throw group.failure;
  if (group.state !== "new") return;
  group.state = "begun";
  begun.add(group);
  try {
    for (const hook of group.before) await hook();
  } catch (error) {
    group.state = "failed";
    group.failure = error;
    throw error;
  }
}

async function end(group: Group): Promise<void> {
  if (group.state !== "begun" && group.state !== "failed") return;
  group.state = "ended";
  begun.delete(group);
  for (const hook of group.after) await hook();
}

function groupsAround(group: Group): readonly Group[] {
  return group.outer === undefined ? [group] : [...groupsAround(group.outer), group];
}

async function runTest(group: Group, { body, timeout }: { readonly body: Hook; readonly timeout: number }) {
  const groups = groupsAround(group);
  let hasFailed = true;
  try {
    await begin(group);
    for (const { beforeEach: hooks } of groups) for (const hook of hooks) await hook();
    try {
      await within(timeout, body);
      hasFailed = false;
    } finally {
      for (const { afterEach: hooks } of groups.toReversed()) for (const hook of hooks) await hook();
    }
  } finally {
    for (const witness of witnesses) witness(hasFailed);
    for (const one of groups.toReversed()) if (--one.left === 0) await end(one);
  }
}

async function within(timeout: number, body: Hook): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the test did not end within ${timeout} ms`)), timeout);
  try {
    await Promise.race([body(), late]);
  } finally {
    clearTimeout(timer);
  }
}

interface TestOptions {
  readonly timeout?: number;
}

interface Choice {
  readonly ignore?: boolean;
  readonly only?: boolean;
}

function define(name: string, body: Hook, { ignore = false, only, timeout }: Choice & TestOptions): void {
  const group = current;
  const isIgnored = ignore || group.isSkipped;
  const titles = [...groupsAround(group).map((one) => one.name), name].filter((title) => title !== "");
  if (!isIgnored) for (const one of groupsAround(group)) one.left++;
  runner()({
    name: titles.join(" > "),
    ignore: isIgnored,
    ...(only !== undefined && { only }),
    fn: () => runTest(group, { body, timeout: timeout ?? defaultTimeout }),
    sanitizeOps: false,
    sanitizeResources: false,
    sanitizeExit: false,
  });
}

interface DefineTest {
  (name: string, body: Body, options?: number | TestOptions): void;
}

interface Test extends DefineTest {
  readonly skip: DefineTest;
  readonly only: DefineTest;
  readonly todo: (name: string, body?: Body) => void;
  readonly concurrent: DefineTest;
  skipIf(condition: unknown): Test;
  if(condition: unknown): Test;
  /**
   * Defines a test for each row: an array is the list of the body's arguments, any other value is its only argument.
   */
  each<Row>(
    rows: readonly Row[],
  ): (name: string, body: (...args: RowArguments<Row>) => unknown, options?: number | TestOptions) => void;
}

type RowArguments<Row> = Row extends readonly unknown[] ? [...Row] : [Row];

function defining(choice: Choice): DefineTest {
  return (name, body, options) => {
    const timeout = typeof options === "number" ? options : options?.timeout;
    define(name, () => body(), { ...choice, ...(timeout !== undefined && { timeout }) });
  };
}

function testWith(choice: Choice): Test {
  return Object.assign(defining(choice), {
    skip: defining({ ...choice, ignore: true }),
    only: defining({ ...choice, only: true }),
    todo: (name: string) => define(name, () => undefined, { ignore: true }),
    concurrent: defining(choice),
    skipIf: (condition: unknown) => testWith(condition ? { ...choice, ignore: true } : choice),
    if: (condition: unknown) => testWith(condition ? choice : { ...choice, ignore: true }),
    each: (rows: readonly unknown[]) => (name: string, body: Body, options?: number | TestOptions) => {
      for (const [index, row] of rows.entries()) {
        const args = Array.isArray(row) ? row : [row];
        defining(choice)(
          titleOf(name, { args, index }),
          () => (body as (...all: unknown[]) => unknown)(...args),
          options,
        );
      }
    },
  });
}

/** Fills in `%s`, `%d`, `%j`, `%p`, `%i`, `%#` and `$property` in the name of a test for a row. */
function titleOf(name: string, { args, index }: { readonly args: readonly unknown[]; readonly index: number }): string {
  let next = 0;
  const filled = name.replaceAll(/%([sdifjop#%])/g, (_, kind: string) => {
    if (kind === "%") return "%";
    if (kind === "#") return String(index);
    const value = args[next++];
    return kind === "j" || kind === "o" || kind === "p" ? JSON.stringify(value) : String(value);
  });
  const [first] = args;
  if (typeof first !== "object" || first === null) return filled;
  return filled.replaceAll(/\$(\w+)/g, (all, key: string) =>
    key in first ? String((first as Record<string, unknown>)[key]) : all,
  );
}

export const test: Test = testWith({});
export const it: Test = test;

type Describe = (name: string, body: Hook) => void;

function grouping(isSkipped: boolean): Describe {
  return (name, body) => {
    const outer = current;
    current = groupOf(name, outer, isSkipped);
    try {
      body();
    } finally {
      current = outer;
    }
  };
}

export const describe: Describe & {
  readonly skip: Describe;
  skipIf(condition: unknown): Describe;
  if(condition: unknown): Describe;
  each<Row>(rows: readonly Row[]): (name: string, body: (...args: RowArguments<Row>) => unknown) => void;
} = Object.assign(grouping(false), {
  skip: grouping(true),
  skipIf: (condition: unknown) => grouping(Boolean(condition)),
  if: (condition: unknown) => grouping(!condition),
  each:
    <Row>(rows: readonly Row[]) =>
    (name: string, body: (...args: RowArguments<Row>) => unknown) => {
      for (const [index, row] of rows.entries()) {
        const args = Array.isArray(row) ? row : [row];
        grouping(false)(titleOf(name, { args, index }), () => body(...(args as RowArguments<Row>)));
      }
    },
});

base.extend({
  toStartWith: (received: unknown, start: string) =>
    verdict(received, { is: String(received).startsWith(start), what: `start with ${start}` }),
  toEndWith: (received: unknown, end: string) =>
    verdict(received, { is: String(received).endsWith(end), what: `end with ${end}` }),
  toBeString: (received: unknown) => verdict(received, { is: typeof received === "string", what: "be a string" }),
  toBeTrue: (received: unknown) => verdict(received, { is: received === true, what: "be true" }),
  toBeFalse: (received: unknown) => verdict(received, { is: received === false, what: "be false" }),
  toBeEmpty: (received: unknown) => verdict(received, { is: isEmpty(received), what: "be empty" }),
});

function verdict(received: unknown, { is, what }: { readonly is: boolean; readonly what: string }) {
  return { pass: is, message: () => `expected ${JSON.stringify(received)} ${is ? "not " : ""}to ${what}` };
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "string" || Array.isArray(value)) return value.length === 0;
  if (value instanceof Map || value instanceof Set) return value.size === 0;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Accepts a second argument like Bun, which adds it to a failure's message. */
function expectOf<T>(value: T, _more?: string): ReturnType<typeof base<T>> {
  return base<T>(value);
}

/** A matcher interface has no index signature, which the library's own type requires. */
interface Extensible {
  extend(matchers: object): void;
}

export const expect: typeof base & typeof expectOf & Extensible = Object.assign(expectOf, base);
