/** Reads the events of a watch. */
import { isProtobuf, readEvents } from "./protobuf.ts";

/** Yields each event of a watch, in JSON or protobuf. */
export async function* eventsOf(response: Response): AsyncGenerator {
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

/** Matches text that may have a number in a spelling that parsing loses. */
const odd = /\d\.\d|\d[eE]|\d{16}|-0/;

function keepSpelling(_: string, value: unknown, { source = "" }: { readonly source?: string }): unknown {
  return typeof value === "number" && String(value) !== source ? `<number ${source}>` : value;
}

/** Parses JSON, and returns the text itself where it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return odd.test(text)
      ? JSON.parse(text, keepSpelling as (key: string, value: unknown) => unknown)
      : JSON.parse(text);
  } catch {
    return text;
  }
}
