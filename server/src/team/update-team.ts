// Changes of a team by its members. Modules and the slug are set by the operator.
import { isDeepStrictEqual } from 'node:util'
import { defaultRoles } from '@pharos/contract/role'
import { grantsNeeded } from '@pharos/contract/route'
import { updateTeamRoute, type Team, type TeamChanges } from '@pharos/contract/team/team'
import { auditOf, writeAudit } from '../db/audit.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import type { Trx } from '../db/postgres.ts'
import { isCountry } from '../text/country.ts'
import { parseEmail } from '../text/email.ts'
import { errorAt, fail, notFound, failWith } from '../runtime/error.ts'
import { etagOf, requireMatch } from '../operation/etag.ts'
import type { Operation } from '../operation/operation.ts'
import { isTimezone } from '../text/time.ts'
import { getTeamAccess, operationIn, requireTeamGrant, type TeamAccess } from './team-access.ts'
import { lockTeam } from './team-lock.ts'
import { presentTeam, type TeamDeps } from './team.ts'
import { readTeam, saveTeam, type TeamColumns, type TeamRow } from './team.store.ts'

/** Returns the same body as GET. Values that are set already are not a change. */
export async function updateTeam(
  deps: TeamDeps,
  operation: Operation,
  named: string,
  changes: TeamChanges,
): Promise<ChangeAnswer<Team>> {
  const needed = grantsNeeded(updateTeamRoute.permission, Object.keys(changes))
  const entered = await getTeamAccess(deps.db, operation, named, needed[0]!)
  for (const grant of needed) requireTeamGrant(entered, grant)
  const wanted = readChanges(changes)
  const inTeam = operationIn(operation, entered)
  return runChange(deps.postgres, inTeam, async (trx) => {
    const { access } = await lockTeam(trx, operation, entered)
    for (const grant of needed) requireTeamGrant(access, grant)
    const before = await getRow(trx, access)
    requireMatch(operation.ifMatch, etagOf(before.version))
    const differing = differencesOf(before, wanted)
    if (Object.keys(differing).length > 0) await change(trx, inTeam, access, before, differing)
    return presentTeam(await getRow(trx, access), access)
  })
}

async function getRow(trx: Trx, { teamId }: TeamAccess): Promise<TeamRow> {
  const row = await readTeam(trx, teamId)
  if (!row) throw notFound('team')
  return row
}

async function change(
  trx: Trx,
  operation: Operation,
  access: TeamAccess,
  before: TeamRow,
  differing: TeamColumns,
): Promise<void> {
  if (differing.require_2fa) requireOwnFactor(access)
  await saveTeam(trx, access.teamId, differing)
  await writeAudit(trx, {
    ...auditOf(operation),
    action: 'team.update',
    target: `team:${access.teamId}`,
    before: Object.fromEntries(
      Object.keys(differing).map((field) => [field, before[field as keyof TeamRow]]),
    ),
    after: differing,
  })
}

/**
 * Only a user with a second factor may require it, so that they do not lock themselves out. An API token has no second
 * factor.
 */
function requireOwnFactor({ isStrong }: TeamAccess): void {
  if (isStrong) return
  throw fail('conflict', 'ownFactorFirst')
}

const emailFields = ['billing_email', 'technical_email', 'abuse_email'] as const

/** Returns the changes in their stored form. Throws a 422 with all errors that the schema cannot express. */
function readChanges(changes: TeamChanges): TeamColumns {
  const emails = emailFields.flatMap((field) => {
    const text = changes[field]
    return text === undefined ? [] : [[field, text === '' ? '' : parseEmail(text)] as const]
  })
  const errors = [
    ...emails.flatMap(([field, email]) =>
      email === undefined ? [errorAt(['body', field], 'teamEmail')] : [],
    ),
    ...(changes.country && !isCountry(changes.country) ? [errorAt(['body', 'country'], 'country')] : []),
    ...(changes.timezone !== undefined && !isTimezone(changes.timezone)
      ? [errorAt(['body', 'timezone'], 'timezone')]
      : []),
  ]
  if (errors.length > 0) throw failWith('invalid', errors)
  const { default_roles: chosen, ...rest } = changes
  const roles = chosen && { default_roles: defaultRoles.filter((role) => chosen.includes(role)) }
  return { ...rest, ...roles, ...Object.fromEntries(emails) }
}

function differencesOf(before: TeamRow, wanted: TeamColumns): TeamColumns {
  const differing = Object.entries(wanted).filter(
    ([field, value]) => !isDeepStrictEqual(before[field as keyof TeamRow], value),
  )
  return Object.fromEntries(differing)
}
