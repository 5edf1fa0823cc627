/** Reviews: questions about users and what they may do. Everybody may do everything. */
import type { Fields, KubeObject, UserInfo } from "../hooks.ts";
import { timestamp, type Exchange } from "../verbs/exchange.ts";

type Review = (exchange: Exchange, review: KubeObject) => Fields;

const reviews: Readonly<Record<string, Review>> = {
  "authentication.k8s.io/tokenreviews": ({ kernel }, review) => {
    const { token = "", audiences } = (review["spec"] ?? {}) as { token?: string; audiences?: string[] };
    const user = kernel.tokens.user(token);
    if (user === undefined) {
      const why = token === "" ? {} : { error: "[invalid bearer token, service account token is not valid yet]" };
      return { status: { user: {}, ...why } };
    }
    const claims = kernel.tokens.claims(token);
    const shared = audiences?.filter((audience) => claims?.aud.includes(audience) ?? true);
    return { status: { authenticated: true, user: userFields(user), audiences: shared ?? claims?.aud } };
  },
  "authentication.k8s.io/selfsubjectreviews": ({ user, kernel }) => ({
    metadata: { creationTimestamp: timestamp(kernel.now()) },
    status: { userInfo: userFields(user) },
  }),
  "authorization.k8s.io/subjectaccessreviews": allowed,
  "authorization.k8s.io/localsubjectaccessreviews": allowed,
  "authorization.k8s.io/selfsubjectaccessreviews": allowed,
  "authorization.k8s.io/selfsubjectrulesreviews": () => ({
    status: {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    },
  }),
};

function allowed(): Fields {
  return { status: { allowed: true } };
}

/** Answers a review; `undefined` when the kind is none. */
export function reviewOf({ resource: { row } }: Exchange): Review | undefined {
  const name = `${row.group}/${row.plural}`;
  const review = Object.hasOwn(reviews, name) ? reviews[name] : undefined;
  return review && ((exchange, object) => ({ ...object, ...review(exchange, object) }));
}

function userFields({ username, uid, groups, extra }: UserInfo): Fields {
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  };
}
