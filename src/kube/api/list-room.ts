/** The room that lists and watches have in a limited memory. */

export interface ListRoom {
  /** The bytes of objects that a page should have at most. */
  readonly pageBytes: number;
  /** The bytes of a response from which on it is not read, and fewer objects are requested. */
  readonly answerBytes: number;
  /** How many lists may run at the same time. */
  readonly lists: number;
  /**
   * Makes room for a page before it is requested. It waits a moment when little room is left, but never for ever: being
   * killed, with a message that says why, is better than a list that never ends.
   */
  make(signal?: AbortSignal): Promise<void> | undefined;
  /**
   * Whether so little is left that lists and watches that have brought much end. They are tried again after a while.
   */
  readonly isFull: boolean;
  /**
   * Counts the bytes that a watch has brought without a request; many bytes are a reason to check how much room is
   * left.
   */
  brought(bytes: number): void;
}

/** The error of a list or a watch that ends because memory is nearly used up. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";

  /** @param what the operation in messages, such as `the watch of /api/v1/pods`. */
  constructor(what: string) {
    super(`There is no memory for more of ${what}: the limit is nearly reached. Raise the limit, or watch less`);
  }
}
