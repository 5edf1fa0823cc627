/** The exports of a module: inert, frozen values with a brand. Nothing starts before the registry starts it. */

declare const definition: unique symbol;

/**
 * The result of `defineController`, `defineKeyController`, `defineWebhook` and `definePlugin`: export it, and the
 * binary runs it.
 */
export interface Definition {
  readonly [definition]: 1;
}
