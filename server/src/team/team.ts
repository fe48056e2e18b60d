// A team as its members see it, and the list of teams that the actor can switch to.
import { orderedRoles } from '@pharos/contract/role'
import type { QueryOf } from '@pharos/contract/route'
import type { AvailableTeam, listTeamsRoute, Team } from '@pharos/contract/team/team'
import type { Db, Postgres } from '../db/postgres.ts'
import { notFound } from '../runtime/error.ts'
import { etagOf } from '../operation/etag.ts'
import { isAdmin } from '../operation/grant.ts'
import type { Actor, Operation } from '../operation/operation.ts'
import { getTeamAccess, type TeamAccess } from './team-access.ts'
import { findTeam, listAvailable, type AvailableRow, type TeamReach, type TeamRow } from './team.store.ts'

export type TeamDeps = { readonly postgres: Postgres; readonly db: Db }

export type TeamAnswer = { readonly body: Team; readonly etag: string }

/** Returns the team in the path. */
export async function getTeam(deps: TeamDeps, operation: Operation, named: string): Promise<TeamAnswer> {
  const access = await getTeamAccess(deps.db, operation, named, 'team.see')
  const row = await findTeam(deps.postgres, access.teamId)
  if (!row) throw notFound('team')
  return presentTeam(row, access)
}

/** Returns the team with its ETag: the version, and the fields of the answer that the version does not cover. */
export function presentTeam(row: TeamRow, access: TeamAccess): TeamAnswer {
  const { version, created, asns, ...rest } = row
  const body: Team = {
    ...rest,
    is_admin: isAdmin(access),
    asns: asns.map(({ asn, verified }) => ({ asn, verified: verified && new Date(verified).toISOString() })),
    created: created.toISOString(),
  }
  return { body, etag: etagOf(version, [body.is_admin, body.asns, body.member_count]) }
}

/** Returns the teams that the actor can access, with the actor's role; for staff every team. */
export async function listTeams(
  { db }: TeamDeps,
  { actor }: Operation,
  query: QueryOf<typeof listTeamsRoute>,
): Promise<{ results: AvailableTeam[]; count: number }> {
  const { page, count } = await listAvailable(db, reachOf(actor), query)
  return { results: page.map(presentAvailable), count }
}

function reachOf(actor: Actor): TeamReach {
  return actor.kind === 'user'
    ? { userId: actor.userId, isStaff: actor.isStaff, sessionId: actor.sessionId }
    : { teamId: actor.teamId, roles: actor.roles }
}

function presentAvailable({ roles, needs_sign_in, provider, ...team }: AvailableRow): AvailableTeam {
  const isAdminOf = roles?.includes('admin') ?? false
  const role = roles === null ? 'staff' : isAdminOf ? 'admin' : 'member'
  const signIn = needs_sign_in ? { provider } : null
  return { ...team, is_admin: isAdminOf, role, roles: orderedRoles(roles ?? []), sign_in: signIn }
}
