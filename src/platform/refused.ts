/** A function that modules must not call. */
export interface Refused {
  /** The property that holds it. */
  readonly name: string;
  /** The call as source code has it, such as `process.exit`. */
  readonly call: string;
  /** The effect of the call, such as `end the process`. */
  readonly deed: string;
}

/** Makes a function of an object throw when code of a module calls it. */
export type Refuse = (owner: object, refused: Refused) => void;
