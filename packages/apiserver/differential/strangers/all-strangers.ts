/** Every stranger. */
import type { Case } from "../case.ts";
import type { Served } from "../discovery.ts";
import { reviewsOfStrangers } from "./asked.ts";
import { definitionsOfStrangers } from "./definitions.ts";
import { listsOfStrangers } from "./lists.ts";
import { pagesOfStrangers } from "./pages.ts";
import { partsOfStrangers } from "./parts.ts";
import { policiesOfStrangers } from "./policies.ts";
import { registrationsOfStrangers } from "./registrations.ts";
import { casesOf, type Visits } from "./stranger.ts";
import { walks } from "./walks.ts";

/** Returns the cases. */
export function allStrangers(served: readonly Served[], visits: Visits): Case[] {
  return casesOf(
    [
      walks,
      ...listsOfStrangers,
      ...pagesOfStrangers,
      ...reviewsOfStrangers,
      ...policiesOfStrangers,
      ...definitionsOfStrangers,
      ...partsOfStrangers,
      ...registrationsOfStrangers,
    ],
    served,
    visits,
  );
}
