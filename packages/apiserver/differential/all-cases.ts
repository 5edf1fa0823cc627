/** Every case, by what it is about. */
import { connecting, creatingByUpdate, policyAuthorizer, policyParameters, signingRights } from "./access/asking.ts";
import { credentials } from "./access/credentials.ts";
import { escalation } from "./access/escalation.ts";
import { impersonation } from "./access/impersonation.ts";
import { refusedPaths } from "./access/paths.ts";
import { worlds } from "./access/worlds.ts";
import type { Case } from "./case.ts";
import type { Served } from "./discovery.ts";
import { applyRefusals } from "./families/apply-refusals.ts";
import { bookmarksOfAll } from "./families/bookmarks.ts";
import { equivalentVersions } from "./families/equivalent-versions.ts";
import { evictions } from "./families/evictions.ts";
import { expressionFamilies } from "./families/expressions.ts";
import { familyCases } from "./families/family.ts";
import { forms } from "./families/forms.ts";
import { numbers } from "./families/numbers.ts";
import { oddities } from "./families/oddities.ts";
import { podPaths } from "./families/pod-paths.ts";
import { podWarnings } from "./families/pod-warnings.ts";
import { tokenRequests } from "./families/token-requests.ts";
import { watchStreams } from "./families/watch-streams.ts";
import { yaml } from "./families/yaml-bodies.ts";
import { fieldCases } from "./fields/cases.ts";
import { generatedCases } from "./generated/cases.ts";
import type { Selection } from "./sampling.ts";
import { admission } from "./sequences/admission.ts";
import { allocation } from "./sequences/allocation.ts";
import { conversion } from "./sequences/conversion.ts";
import { costs } from "./sequences/costs.ts";
import { custom } from "./sequences/custom.ts";
import { deletion } from "./sequences/deletion.ts";
import { embedded } from "./sequences/embedded.ts";
import { listOptions } from "./sequences/list-options.ts";
import { listing } from "./sequences/listing.ts";
import { mutatingPolicies } from "./sequences/mutating-policies.ts";
import { openapi } from "./sequences/openapi.ts";
import { podSecurity } from "./sequences/pod-security.ts";
import { policies } from "./sequences/policies.ts";
import { protocol } from "./sequences/protocol.ts";
import { versions } from "./sequences/versions.ts";
import { watching } from "./sequences/watching.ts";
import { webhooks } from "./sequences/webhooks.ts";
import { walks } from "./walks/walk.ts";

/** Returns the cases: generated ones for the kinds that a server serves, and written ones. */
export function allCases(served: readonly Served[], selection: Selection): Case[] {
  return [
    // These list the groups of a server, so they go before cases that define kinds, which kube-apiserver removes late.
    ...protocol,
    ...generatedCases(served, selection),
    ...fieldCases(served, selection),
    ...walks(served, selection),
    ...watching,
    ...listing,
    ...listOptions,
    ...custom,
    ...openapi,
    ...deletion,
    ...webhooks,
    ...admission,
    podSecurity,
    ...policies,
    ...mutatingPolicies,
    ...versions,
    ...costs,
    ...conversion,
    ...allocation,
    ...embedded,
    credentials,
    refusedPaths,
    impersonation,
    policyAuthorizer,
    policyParameters,
    signingRights,
    connecting,
    creatingByUpdate,
    ...worlds(selection),
    ...escalation(selection),
    ...familyCases(
      [
        ...applyRefusals,
        ...podWarnings,
        ...watchStreams,
        bookmarksOfAll,
        ...evictions,
        ...tokenRequests,
        ...forms,
        ...equivalentVersions,
        ...podPaths,
        ...expressionFamilies,
        ...oddities,
        ...numbers,
        yaml,
      ],
      selection,
    ),
  ];
}
