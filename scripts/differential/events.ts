/** The events of a watch, as they come. */
import { isProtobuf, readEvents } from "./protobuf.ts";

/** Each event of a watch, whatever form it is written in. */
export async function* eventsOf(response: Response): AsyncGenerator<unknown> {
  const chunks = response.body as unknown as AsyncIterable<Uint8Array>;
  if (isProtobuf(response)) {
    let left: Uint8Array = new Uint8Array();
    for await (const chunk of chunks) {
      const { events, rest } = readEvents(Buffer.concat([left, chunk]));
      left = rest;
      yield* events;
    }
    return;
  }
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield parsed(line);
  }
}

/** The value of a text of JSON, or the text where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
