/** Reviews: requests that ask about users and their permissions. */
import type { Fields, KubeObject, UserInfo } from "../hooks.ts";
import { accessReview, rulesReview } from "./access-reviews.ts";
import { checkReview } from "./review-rules.ts";
import { timestamp } from "../timestamp.ts";
import type { ApiCall } from "../verbs/api-call.ts";

type Review = (call: ApiCall, review: KubeObject) => Fields;

const reviews: Readonly<Record<string, Review>> = {
  "authentication.k8s.io/tokenreviews": ({ kernel }, review) => {
    const { token = "", audiences } = (review["spec"] ?? {}) as { token?: string; audiences?: string[] };
    const user = kernel.tokens.check(token, audiences?.length ? audiences : undefined);
    if (typeof user === "string") return { status: { user: {}, error: user } };
    const claims = kernel.tokens.claims(token);
    const shared = audiences?.filter((audience) => claims?.aud.includes(audience) ?? true);
    return { status: { authenticated: true, user: userFields(user), audiences: shared ?? claims?.aud } };
  },
  "authentication.k8s.io/selfsubjectreviews": ({ user, kernel }) => ({
    metadata: { creationTimestamp: timestamp(kernel.now()) },
    status: { userInfo: userFields(user) },
  }),
  "authorization.k8s.io/subjectaccessreviews": accessReview,
  "authorization.k8s.io/localsubjectaccessreviews": accessReview,
  "authorization.k8s.io/selfsubjectaccessreviews": accessReview,
  "authorization.k8s.io/selfsubjectrulesreviews": rulesReview,
};

/** Returns the handler of a review; `undefined` when the kind is not one. */
export function reviewOf({ resource: { row } }: ApiCall): Review | undefined {
  const name = `${row.group}/${row.plural}`;
  const review = Object.hasOwn(reviews, name) ? reviews[name] : undefined;
  return (
    review &&
    ((call, object) => {
      checkReview(row.kind, object);
      return { ...object, ...review(call, object) };
    })
  );
}

function userFields({ username, uid, groups, extra }: UserInfo): Fields {
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}
