/** A webhook over TLS that responds as the case wants and remembers its requests. */
import { createAuthority, issue } from "binnacle-apiserver";
import type { Loose } from "../session.ts";

export interface WebhookServer extends AsyncDisposable {
  readonly url: string;
  /** The PEM certificate of the authority, in base64. */
  readonly caBundle: string;
  readonly reviews: Loose[];
  answer(path: string, reply: (review: Loose) => unknown): void;
}

export function webhookServer(): WebhookServer {
  const authority = createAuthority("webhook");
  const { cert, key } = issue(authority, { subject: { name: "webhook" }, hosts: ["127.0.0.1"] });
  const replies = new Map<string, (review: Loose) => unknown>();
  const reviews: Loose[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert, key },
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const review = await request.json();
      reviews.push({ path: pathname, review });
      const reply = await replies.get(pathname)?.(review);
      return reply instanceof Response ? reply : Response.json(reply ?? null);
    },
  });
  return {
    url: `https://127.0.0.1:${server.port}`,
    caBundle: Buffer.from(authority.cert).toString("base64"),
    reviews,
    answer: (path, reply) => void replies.set(path, reply),
    [Symbol.asyncDispose]: async () => await server.stop(true),
  };
}

/** Makes an AdmissionReview with this response. */
export function verdict(review: Loose, response: object): object {
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: review.request.uid, ...response },
  };
}

/** Makes an AdmissionReview that permits the request and patches the object. */
export function patchVerdict(review: Loose, operations: readonly object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  return verdict(review, { allowed: true, patchType: "JSONPatch", patch });
}
