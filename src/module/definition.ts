/** The exports of a module: inert, frozen values with a brand. Nothing starts before the registry starts it. */

declare const definition: unique symbol;

/** The result of `defineController`, `defineWebhook` and the like: export it, and the binary runs it. */
export interface Definition {
  readonly [definition]: 1;
}
