/** What a module exports: inert, frozen values that carry a brand. Nothing starts before the registry starts it. */

declare const definition: unique symbol;

/** What `defineController`, `defineKeyController`, `defineWebhook` and `definePlugin` return: export it, and the binary runs it. */
export interface Definition {
  readonly [definition]: 1;
}
