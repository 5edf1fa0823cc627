/** Every family. */
import type { Case } from "../case.ts";
import { applyRefusals } from "./apply-refusals.ts";
import { definitionsOfMistakes } from "./bad-definitions.ts";
import { bodies } from "./bodies.ts";
import { bookmarksOfAll } from "./bookmarks.ts";
import { certificates } from "./certificates.ts";
import { equivalentVersions } from "./equivalent-versions.ts";
import { evictions } from "./evictions.ts";
import { eventsAndLeasesOfAll } from "./events-and-leases.ts";
import { expressions } from "./expressions.ts";
import { addressesOfServices } from "./addresses.ts";
import { admissions } from "./admissions.ts";
import { customSchemas } from "./custom-schemas.ts";
import { largeNumbers } from "./large-numbers.ts";
import { lifecycles } from "./lifecycles.ts";
import { numbers } from "./numbers.ts";
import { randomNumbers } from "./random-numbers.ts";
import { selections } from "./selections.ts";
import { serverPages } from "./server-pages.ts";
import { strictness } from "./strictness.ts";
import { type Family, familyCases } from "./family.ts";
import { forms } from "./forms.ts";
import { oddities } from "./oddities.ts";
import { paths } from "./paths.ts";
import { podPaths } from "./pod-paths.ts";
import { podWarnings } from "./pod-warnings.ts";
import { refusalsOfRareKinds } from "./refusals-of-kinds.ts";
import { scaling } from "./scales.ts";
import { tokenEndings, tokenRequests } from "./token-requests.ts";
import { watchStreams } from "./watch-streams.ts";
import { yamlBodies } from "./yaml-bodies.ts";

/**
 * Families in which some exchanges still differ, most of them about errors that Go reports
 * in the random order of a map. They are measured with all families, and are no part of the test.
 */
const measured: readonly Family[] = [
  addressesOfServices,
  definitionsOfMistakes,
  eventsAndLeasesOfAll,
  ...strictness,
  ...serverPages,
  ...selections,
  ...lifecycles,
  ...customSchemas,
  ...admissions,
];

/** Returns the cases. @param share how many of their exchanges are played, 1 for each of them */
export function allFamilies(share: number): Case[] {
  return familyCases(
    [
      ...applyRefusals,
      ...yamlBodies,
      ...podWarnings,
      ...watchStreams,
      bookmarksOfAll,
      ...evictions,
      tokenRequests,
      tokenEndings,
      ...forms,
      ...equivalentVersions,
      ...paths,
      ...bodies,
      ...podPaths,
      ...scaling,
      ...expressions,
      ...certificates,
      ...oddities,
      ...numbers,
      ...largeNumbers,
      ...randomNumbers,
      ...refusalsOfRareKinds,
      ...(share < 1 ? [] : measured),
    ],
    share,
  );
}
