/** Serves access reviews, with the server's own authorizer. */
import type { Attributes, Fields, KubeObject, PolicyRule, UserInfo } from "../hooks.ts";
import { missingRoles } from "../authorization/authorizer.ts";
import type { ApiCall } from "../verbs/api-call.ts";
import { fieldSelectorProblem, labelSelectorProblem, type Selector } from "./review-selectors.ts";

interface ResourceQuestion {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly fieldSelector?: Selector;
  readonly labelSelector?: Selector;
}

interface ReviewSpec {
  readonly resourceAttributes?: ResourceQuestion;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
}

/** Serves `SelfSubjectAccessReview`, `SubjectAccessReview` and `LocalSubjectAccessReview`. */
export function accessReview({ kernel, resource, user }: ApiCall, review: KubeObject): Fields {
  const spec = (review["spec"] ?? {}) as ReviewSpec;
  const isSelf = resource.row.kind === "SelfSubjectAccessReview";
  const about: UserInfo = isSelf ? user : { username: spec.user ?? "", groups: spec.groups ?? [] };
  const { allowed, reason } = kernel.authorizer.authorize(question(spec, about));
  const { fieldSelector, labelSelector } = spec.resourceAttributes ?? {};
  const problems = [fieldSelectorProblem(fieldSelector), labelSelectorProblem(labelSelector)].filter(Boolean);
  return {
    status: {
      allowed,
      ...(reason !== "" && { reason }),
      ...(problems.length > 0 && { evaluationError: problems.join("; ") }),
    },
  };
}

function question({ resourceAttributes, nonResourceAttributes }: ReviewSpec, user: UserInfo): Attributes {
  const { namespace = "", verb, group = "", resource = "", subresource = "", name = "" } = resourceAttributes ?? {};
  const isResource = resourceAttributes !== undefined;
  const { path = "" } = nonResourceAttributes ?? {};
  const requestedVerb = verb ?? nonResourceAttributes?.verb ?? "";
  return { user, isResource, verb: requestedVerb, path, group, resource, subresource, namespace, name };
}

/** Serves `SelfSubjectRulesReview`. */
export function rulesReview({ kernel, user }: ApiCall, review: KubeObject): Fields {
  const { namespace = "" } = (review["spec"] ?? {}) as { readonly namespace?: string };
  const { rules, missing } = kernel.authorizer.rulesFor(user, namespace);
  return {
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.filter(({ resources }) => resources?.length).map(resourceRule),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs }) => ({ verbs: verbs ?? null, nonResourceURLs })),
      incomplete: false,
      ...(missing.length > 0 && { evaluationError: missingRoles(missing) }),
    },
  };
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): Fields {
  return {
    verbs: verbs ?? null,
    ...(apiGroups?.length && { apiGroups }),
    resources,
    ...(resourceNames?.length && { resourceNames }),
  };
}
