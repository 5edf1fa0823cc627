/** What the server sends without end is not taken in, because memory is nearly used up. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";

  /** @param what is told to the user, such as `the watch of /api/v1/pods`. */
  constructor(what: string) {
    super(`There is no memory for more of ${what}: the limit is nearly reached. Raise the limit, or watch less`);
  }
}
