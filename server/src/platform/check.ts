// Checks what the shape of the operator's file cannot say, against itself and against what is in the database, and
// gives the entries to plan with. Pure: files of passwords and secrets are read elsewhere.
import { CheckContext, type CheckOptions, type Credential } from './check-context.ts'
import { checkAnnouncements, checkAsns, checkPrefixes } from './check-network.ts'
import { checkTeams, checkUsers } from './check-people.ts'
import { checkLocations, checkRegions, checkSources } from './check-places.ts'
import type { PlatformDocument } from './document.ts'
import type { Current, Desired } from './platform.ts'
import type { PlatformProblem } from './problem.ts'
import { readShape } from './shape.ts'

export type Checked = {
  readonly desired: Desired
  /** Still to be made into fields of their entries. */
  readonly credentials: readonly Credential[]
  readonly problems: readonly PlatformProblem[]
  /** What is allowed and worth a second look. */
  readonly notices: readonly PlatformProblem[]
}

/** The entries of the file; they may be used only when there are no problems. Never throws for a bad file. */
export function checkPlatform(document: PlatformDocument, current: Current, options: CheckOptions): Checked {
  const shaped = readShape(document)
  const context = new CheckContext(document, shaped, current, options)
  checkLocations(context)
  checkRegions(context)
  checkTeams(context)
  checkUsers(context)
  checkPrefixes(context)
  checkAsns(context)
  checkAnnouncements(context)
  checkSources(context)
  return {
    desired: { entries: context.entries, present: shaped.present },
    credentials: context.credentials,
    problems: [...shaped.problems, ...context.problems],
    notices: context.notices,
  }
}
