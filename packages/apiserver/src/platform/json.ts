/** What JSON of JavaScript lacks for numbers beyond it: their text when they are read, and any text when they are written. */

/** Gets the text of a number as `source`; other values have none. */
export type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Replaces a value of the key before it is written. */
export type Replacer = (key: string, value: unknown) => unknown;
