/** All cases about authorization. */
import type { Case } from "../case.ts";
import { claims, connecting, creatingByUpdate, policyAuthorizer, policyParameters, signingRights } from "./asking.ts";
import { credentials } from "./credentials.ts";
import { escalation } from "./escalation.ts";
import { impersonation } from "./impersonation.ts";
import { refusedPaths } from "./paths.ts";
import { worlds } from "./worlds.ts";

/** Returns the cases. @param share how many of the generated worlds are played, 1 for all of them */
export function allAccess(share: number): Case[] {
  return [
    credentials,
    refusedPaths,
    impersonation,
    policyAuthorizer,
    policyParameters,
    signingRights,
    connecting,
    creatingByUpdate,
    claims,
    ...worlds(share),
    ...escalation(share),
  ];
}
