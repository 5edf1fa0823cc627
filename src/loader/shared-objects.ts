/** Refuses modules that change built-in objects, which all modules share, while they load. */
import { type Clock, systemClock } from "../platform/clock.ts";
import { freezeIntrinsics, type IntrinsicChange, restoreIntrinsics } from "../platform/intrinsics.ts";

export interface Loading {
  /** Puts back what was changed since the last look, and notes who has changed it. */
  readonly restore: () => void;
  /** Restores objects that were changed since the last check. @throws Error when this module has changed one. */
  check(): void;
  /** Called at the end of loading, however it went. @returns why the module is refused, if it is. */
  end(): string | undefined;
}

/** A module that is being loaded. */
interface Suspect {
  readonly sources: ReadonlyMap<string, string>;
  readonly changes: IntrinsicChange[];
}

/** The modules that are being loaded; there may be several. */
const suspects = new Set<Suspect>();

/** @param sources the module's files, which show the culprit when several modules load at the same time. */
export function beginLoading(sources: ReadonlyMap<string, string>): Loading {
  const own: Suspect = { sources, changes: [] };
  suspects.add(own);
  return {
    restore: () => blame(restoreIntrinsics(), own),
    check: () => {
      blame(restoreIntrinsics(), own);
      if (own.changes.length > 0) throw new Error(refusal(own.changes));
    },
    end: () => {
      blame(restoreIntrinsics(), own);
      suspects.delete(own);
      return own.changes.length === 0 ? undefined : refusal(own.changes);
    },
  };
}

/** Blames the modules whose files name the changed objects; if none does, the module that is checked. */
function blame(changes: readonly IntrinsicChange[], own: Suspect): void {
  for (const change of changes) {
    const word = change.property.replace(/^Symbol\(Symbol\.(\w+)\)$/, "$1");
    const name = new RegExp(`(?<![\\w$])${word.replace(/[^\w]/g, String.raw`\$&`)}(?![\\w$])`);
    const naming = [...suspects].filter(({ sources }) => [...sources.values()].some((source) => name.test(source)));
    for (const suspect of naming.length === 0 ? [own] : naming) suspect.changes.push(change);
  }
}

function refusal(changes: readonly IntrinsicChange[]): string {
  const names = [...new Set(changes.map(({ name }) => name))].join(", ");
  return (
    `it changes ${names}, which all modules and the SDK share; what it changed is put back. ` +
    "Keep the function in the module, or import it from a package that changes nothing"
  );
}

/** Milliseconds between two checks of the objects that cannot be protected from changes. */
const LOOK_EVERY = 1_000;

/**
 * Protects the built-in objects while modules run: most of them cannot be changed any more, and the others are restored
 * within a second.
 *
 * @param options.onChange called with the names of the restored objects.
 */
export function protectSharedObjects(options: {
  readonly onChange: (names: readonly string[]) => void;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}): Disposable {
  const { onChange, clock = systemClock } = options;
  freezeIntrinsics();
  const look = (): Disposable =>
    clock.setTimeout(() => {
      const changes = suspects.size > 0 ? [] : restoreIntrinsics(); // modules that load check their own changes
      if (changes.length > 0) onChange([...new Set(changes.map(({ name }) => name))]);
      timer = look();
    }, LOOK_EVERY);
  let timer = look();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
