/** Decides whether a token proves that its bearer may act for the account of this process. */
import type { Transport } from "../../kube/transport/transport.ts";
import { DEBUG_AUDIENCE } from "../../server/debug/debug-file.ts";

/** The most characters of a token: kube-apiserver issues no longer ones. */
const LONGEST_TOKEN = 16_384;
const REVIEW_MS = 10_000;

interface Review {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: { readonly username?: string };
    readonly userInfo?: { readonly username?: string };
    readonly audiences?: readonly string[];
  };
}

/**
 * Whether the API server knows the token as one of this process's own account, for the audience of the debug listener.
 * Whoever may create tokens of the account may act for it anyway.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
 * @throws ApiError when the process may not create TokenReviews.
 */
export async function isOwnToken(transport: Pick<Transport, "request">, token: string): Promise<boolean> {
  if (token.length > LONGEST_TOKEN) return false;
  const [presented, own] = await Promise.all([
    review(transport, "TokenReview", { token, audiences: [DEBUG_AUDIENCE] }),
    review(transport, "SelfSubjectReview", undefined),
  ]);
  const { authenticated, user, audiences } = presented.status ?? {};
  const account = own.status?.userInfo?.username;
  return (
    authenticated === true &&
    account !== undefined &&
    user?.username === account &&
    audiences?.includes(DEBUG_AUDIENCE) === true
  );
}

function review(transport: Pick<Transport, "request">, kind: string, spec: object | undefined): Promise<Review> {
  const group = "authentication.k8s.io";
  return transport.request<Review>({
    method: "POST",
    path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
    body: { apiVersion: `${group}/v1`, kind, spec },
    timeout: REVIEW_MS,
  });
}
