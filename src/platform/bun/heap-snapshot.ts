/** Returns a snapshot of the heap in the format of Chrome's tools. */
export async function heapSnapshot(): Promise<string> {
  return Bun.generateHeapSnapshot("v8");
}
