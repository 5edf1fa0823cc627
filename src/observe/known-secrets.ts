/**
 * The secret values that the whole process knows, such as those of the modules' configuration; no line of the log
 * repeats one.
 */
import { SecretSearch } from "./secret-search.ts";

/** The values of each owner. */
const valuesByOwner = new Map<symbol, readonly string[]>();
let search = new SecretSearch();

/** Keeps values out of logs and reports, until it is disposed of. */
export function keepSecret(values: Iterable<string>): Disposable {
  const owner = Symbol("owner");
  const own = [...values];
  valuesByOwner.set(owner, own);
  for (const value of own) search.add(value);
  return {
    [Symbol.dispose]: () => {
      valuesByOwner.delete(owner);
      search = new SecretSearch();
      for (const value of [...valuesByOwner.values()].flat()) search.add(value);
    },
  };
}

/** Returns the text without any of the values. @param isCut see {@link SecretSearch.clean} */
export function withoutSecrets(text: string, isCut = false): string {
  return search.clean(text, isCut);
}
