/** What pods are known by: accounts, and what they check the server with. */
import type { Definition } from "../../../index.ts";
import { defaultAccounts } from "./default-account.ts";
import { rootCertificates } from "./root-certificates.ts";
import { tokenSecrets } from "./token-secrets.ts";

/** The controllers of service accounts. @param certificates of the server, PEM; without them only the accounts are made */
export function serviceAccountControllers(certificates: string | undefined): readonly Definition[] {
  if (certificates === undefined) return [defaultAccounts()];
  return [defaultAccounts(), rootCertificates(certificates), tokenSecrets(certificates)];
}
