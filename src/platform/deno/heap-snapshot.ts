import { getHeapSnapshot } from "node:v8";

/** Returns a snapshot of the heap in the format of Chrome's tools. */
export async function heapSnapshot(): Promise<string> {
  let text = "";
  for await (const chunk of getHeapSnapshot().setEncoding("utf8")) text += String(chunk);
  return text;
}
