/** Quantities of memory and processors, as manifests have them. */

const SUFFIXES: Readonly<Record<string, number>> = {
  "": 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

/**
 * Parses a quantity such as `200m` or `256Mi`; `undefined` for invalid text, and for values that are not above zero.
 */
export function quantity(text: string): number | undefined {
  const [, digits, suffix = ""] = /^(\d+(?:\.\d+)?)(m|k|M|G|Ki|Mi|Gi)?$/.exec(text) ?? [];
  const number = Number(digits) * (SUFFIXES[suffix] ?? Number.NaN);
  return number > 0 ? number : undefined;
}
