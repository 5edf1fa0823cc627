/** Makes a response of text that browsers treat as nothing else. */
export function plainResponse(text: string, status: number, headers: Readonly<Record<string, string>> = {}): Response {
  const own = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  return new Response(text, { status, headers: { ...own, ...headers } });
}
