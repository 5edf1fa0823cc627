/**
 * Detects changes of the built-in objects of the language and the runtime, which all modules share with the SDK.
 *
 * It checks the functions that the SDK and its packages use, and properties that were added to prototypes and that
 * loops over keys would meet. Checking all functions would create each of the runtime's, which do not exist before
 * their first use, and take 9 MiB.
 *
 * The code that detects changes must not depend on objects that could have been changed: it uses no iterators, and only
 * methods that are saved here.
 */

interface Snapshot {
  /** The object, such as `Array.prototype`. */
  readonly name: string;
  readonly object: object;
  readonly keys: readonly PropertyKey[];
  readonly before: readonly PropertyDescriptor[];
}

/** A property that was changed. */
export interface IntrinsicChange {
  /** The full name, such as `Array.prototype.map`. */
  readonly name: string;
  /** The property, such as `map`. */
  readonly property: string;
}

const { getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;
const hasOwn = Object.hasOwn;
const toText = String;

/** Prototypes whose added keys a loop over any object would meet. */
const LOOPED = [
  { name: "Object.prototype", object: Object.prototype },
  { name: "Array.prototype", object: Array.prototype },
  { name: "String.prototype", object: String.prototype },
  { name: "Function.prototype", object: Function.prototype },
] as const;

let snapshots: readonly Snapshot[] | undefined;

/** Remembers the present state. */
export function keepIntrinsics(): void {
  snapshots ??= intrinsics();
}

/** Restores objects that have changed since {@link keepIntrinsics} was called. @returns the changes. */
export function restoreIntrinsics(): readonly IntrinsicChange[] {
  const changes: IntrinsicChange[] = [];
  const add = (name: string, key: PropertyKey): void => {
    changes[changes.length] = { name: `${name}.${toText(key)}`, property: toText(key) };
  };
  const all = snapshots ?? [];
  for (let place = 0; place < all.length; place++) {
    const { name, object, keys, before } = all[place]!;
    for (let index = 0; index < keys.length; index++) {
      const then = before[index]!;
      const now = getOwnPropertyDescriptor(object, keys[index]!);
      if (now !== undefined && now.value === then.value && now.get === then.get && now.set === then.set) continue;
      if (defineProperty(object, keys[index]!, then)) add(name, keys[index]!);
    }
  }
  for (let place = 0; place < LOOPED.length; place++) {
    const { name, object } = LOOPED[place]!;
    // oxlint-disable-next-line typescript/no-for-in-array -- such loops meet added keys, which this one looks for
    for (const key in object) if (hasOwn(object, key) && deleteProperty(object, key)) add(name, key);
  }
  return changes;
}

/**
 * Makes most built-in objects unchangeable: an attempt throws where it is made. {@link restoreIntrinsics} restores the
 * others. These are properties that programs override in their own objects by assignment, which a read-only property of
 * the prototype would prevent, and functions that the engine runs slowly once they have been redefined in any way.
 */
export function freezeIntrinsics(): void {
  const loose: Snapshot[] = [];
  for (const { name, object, keys } of snapshots ?? []) {
    const left = keys.filter((key) => isLoose(name, key) || !fix(object, key));
    loose.push({ name, object, keys: left, before: left.map((key) => getOwnPropertyDescriptor(object, key)!) });
  }
  snapshots = loose;
  Object.preventExtensions(Object.prototype);
}

/** Makes a property unchangeable. @returns whether it is now. */
function fix(object: object, key: PropertyKey): boolean {
  const { get, configurable } = getOwnPropertyDescriptor(object, key)!;
  if (get !== undefined) return false;
  return configurable !== true || defineProperty(object, key, { writable: false, configurable: false });
}

function isLoose(name: string, key: PropertyKey): boolean {
  const names = LOOSE[name];
  return (
    typeof key === "symbol" ||
    name.startsWith("%") ||
    names === "all" ||
    names?.split(" ").includes(key as string) === true
  );
}

/** Properties that {@link freezeIntrinsics} leaves changeable. */
const LOOSE: Readonly<Record<string, string>> = {
  "Object.prototype": "all",
  "Function.prototype": "all",
  "Number.prototype": "all",
  "Error.prototype": "all",
  "EventTarget.prototype": "all",
  "AbortSignal.prototype": "all",
  "AbortController.prototype": "all",
  "RegExp.prototype": "all",
  "Array.prototype": "push pop shift unshift splice",
  "Map.prototype": "entries keys values",
  "Set.prototype": "entries keys values",
  Error: "all",
  process: "emit off on once",
};

function intrinsics(): readonly Snapshot[] {
  const intrinsicObjects: Snapshot[] = [];
  const add = (name: string, object: object, keys: readonly PropertyKey[]): void => {
    const there = keys.filter((key) => Object.hasOwn(object, key));
    intrinsicObjects.push({
      name,
      object,
      keys: there,
      before: there.map((key) => getOwnPropertyDescriptor(object, key)!),
    });
  };
  for (const [name, [statics, methods]] of Object.entries(WATCHED)) {
    const object = (globalThis as unknown as Readonly<Record<string, { readonly prototype?: object }>>)[name]!;
    add(name, object, words(statics));
    if (object.prototype !== undefined) add(`${name}.prototype`, object.prototype, [...words(methods), ...SYMBOLS]);
  }
  add("globalThis", globalThis, [...Object.keys(WATCHED), ...words(GLOBALS)]);
  add("process", process, words(PROCESS));
  add("console", console, words("debug error info log warn"));
  const iterators = {
    "%ArrayIterator%": [].values(),
    "%MapIterator%": new Map().values(),
    "%SetIterator%": new Set().values(),
  };
  for (const [name, sample] of Object.entries(iterators)) {
    add(`${name}.prototype`, Object.getPrototypeOf(sample) as object, ["next"]);
  }
  return intrinsicObjects;
}

function words(text: string): readonly string[] {
  return text.split(" ");
}

const SYMBOLS: readonly symbol[] = [Symbol.iterator, Symbol.asyncIterator, Symbol.toPrimitive];

/** The watched functions of each object, and the methods of its prototype. */
const WATCHED: Readonly<Record<string, readonly [statics: string, methods: string]>> = {
  Object: [
    "assign create defineProperty entries freeze fromEntries getOwnPropertyDescriptor getOwnPropertyNames getPrototypeOf hasOwn is keys values",
    "hasOwnProperty toString valueOf",
  ],
  Function: ["", "apply bind call"],
  Array: [
    "from isArray of",
    "at concat every filter find findIndex findLast flat flatMap forEach includes indexOf join map pop push reduce reverse shift slice some sort splice toSorted toSpliced unshift",
  ],
  String: [
    "fromCharCode raw",
    "charCodeAt endsWith includes indexOf match matchAll padEnd padStart repeat replace replaceAll search slice split startsWith substring toLowerCase toString trim",
  ],
  Number: ["isFinite isInteger isNaN isSafeInteger parseFloat parseInt", "toFixed toString"],
  Promise: ["all allSettled any race reject resolve withResolvers", "catch finally then"],
  Map: ["groupBy", "clear delete entries forEach get has keys set values"],
  Set: ["", "add clear delete entries forEach has keys values"],
  WeakMap: ["", "delete get has set"],
  Date: ["now parse", "getTime toISOString"],
  RegExp: ["", "exec test"],
  JSON: ["parse stringify", ""],
  Math: ["abs ceil floor max min random round trunc", ""],
  Reflect: ["apply defineProperty deleteProperty get getOwnPropertyDescriptor ownKeys set", ""],
  Error: ["captureStackTrace", "toString"],
  AbortController: ["", "abort signal"],
  AbortSignal: ["any timeout", "aborted reason throwIfAborted"],
  EventTarget: ["", "addEventListener dispatchEvent removeEventListener"],
  TextEncoder: ["", "encode encodeInto"],
  TextDecoder: ["", "decode"],
  Uint8Array: ["from of", ""],
};

const GLOBALS =
  "Bun Buffer clearImmediate clearInterval clearTimeout console fetch isNaN parseFloat parseInt process queueMicrotask setImmediate setInterval setTimeout structuredClone";

const PROCESS = "chdir cwd emit exit hrtime kill nextTick off on once";
