/** JSON with numbers that JavaScript cannot represent: a reader gets their text, and a writer may write any text. */

/** Gets the text of a number as `source`; other values have none. */
export type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Replaces a value of the key before it is written. */
export type Replacer = (key: string, value: unknown) => unknown;
