/** Pushed bytes as an async iterable; unread bytes are buffered. */
export class PushedChunks implements AsyncIterable<Uint8Array> {
  readonly #waiting: Uint8Array[] = [];
  #wake: PromiseWithResolvers<void> = Promise.withResolvers();
  #end: { readonly error?: unknown } | undefined;
  /** The unread bytes, including those that are being handed over. */
  unread = 0;

  push(chunk: Uint8Array): void {
    this.#waiting.push(chunk);
    this.unread += chunk.length;
    this.#wake.resolve();
  }

  end(): void {
    this.#end ??= {};
    this.#wake.resolve();
  }

  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake.resolve();
  }

  /** Reads everything as UTF-8. */
  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of this) text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.unread;
      yield* this.#waiting.splice(0);
      this.unread -= chunk;
      if (this.#end !== undefined && this.#waiting.length === 0) {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      }
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }
}
