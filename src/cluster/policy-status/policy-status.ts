/** Tells in the status of ValidatingAdmissionPolicies which of their expressions do not fit the kinds that they match. */
import { expressionWarnings } from "binnacle-apiserver";
import { allow, defineController, type Definition } from "../../index.ts";
import { CustomResourceDefinition, ValidatingAdmissionPolicy } from "../../resource/builtin/index.ts";

/** @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking */
export function policyStatusController(): Definition {
  return defineController({
    name: "validatingadmissionpolicy-status",
    for: ValidatingAdmissionPolicy,
    uses: [allow(ValidatingAdmissionPolicy, "status/patch"), allow(CustomResourceDefinition, "list")],
    async reconcile(policy, { client }) {
      const { name, generation = 0 } = policy.metadata;
      // As in Kubernetes, a policy is not checked again when a kind appears or changes.
      if (generation <= (policy.status?.observedGeneration ?? 0)) return;
      const warnings = await expressionWarnings(policy, await client.live.list(CustomResourceDefinition));
      const typeChecking = { expressionWarnings: warnings.length === 0 ? null : warnings };
      await client.subresource("status").patch(
        ValidatingAdmissionPolicy,
        { name },
        {
          type: "merge",
          body: { status: { observedGeneration: generation, typeChecking } },
        },
      );
    },
  });
}
