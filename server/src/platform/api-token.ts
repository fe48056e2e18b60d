// API tokens as the operator makes them: for a team that is named by its slug, and without a quota.
import { scopes as knownScopes } from '@pharos/contract/scope'
import type { Db } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'
import { fail, invalid, notFound, type Failure } from '../runtime/error.ts'
import { didYouMean } from '../text/did-you-mean.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { endApiToken, makeApiToken } from '../session/api-token.ts'
import { findTokenTeam, listApiTokens, type ApiTokenRow } from './api-token.store.ts'
import { findTeamId, listTeamSlugs } from './team.store.ts'

export type { ApiTokenRow }

export type TokenRequest = {
  readonly team: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly networks: readonly Prefix[]
  readonly isAdmin: boolean
  readonly expires: Date | null
  readonly maxUnusedDays: number | null
}

/** Makes a token of the team; `text` is what its holder keeps and cannot be had again. Throws `not_found`, `invalid`. */
export async function createTeamToken(
  db: Db,
  ring: KeyRing,
  request: TokenRequest,
): Promise<{ readonly id: string; readonly text: string }> {
  refuseUnknownScopes(request.scopes)
  return db.transaction().execute(async (trx) => {
    const teamId = await findTeamId(trx, request.team)
    if (teamId === undefined) throw noTeam(request.team, await listTeamSlugs(trx))
    const wanted = { ...request, teamId, createdBy: null }
    const { made, text } = await makeApiToken(trx, ring, wanted, { teamId, actor: 'operator' })
    return { id: made.id, text }
  })
}

function refuseUnknownScopes(scopes: readonly string[]): void {
  if (scopes.length === 0) throw invalid(['scopes'], 'scopesMissing', { known: knownScopes })
  const unknown = scopes.find((scope) => !(knownScopes as readonly string[]).includes(scope))
  if (unknown !== undefined) throw invalid(['scopes'], 'scope', { unknown, known: knownScopes })
}

function noTeam(slug: string, slugs: readonly string[]): Failure {
  const hint = didYouMean(slug, slugs) || (slugs.length > 0 ? '' : '; there are no teams yet, see pharos apply')
  return fail('not_found', 'team', { slug, hint })
}

/** The tokens of a team that are not revoked, the newest first; of all teams without one. */
export async function listTeamTokens(db: Db, team?: string): Promise<ApiTokenRow[]> {
  if (team !== undefined && (await findTeamId(db, team)) === undefined)
    throw noTeam(team, await listTeamSlugs(db))
  return listApiTokens(db, team)
}

/** Ends a token for good; one that is revoked already stays so. Throws `not_found`. */
export async function revokeTeamToken(db: Db, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const teamId = await findTokenTeam(trx, id)
    if (teamId === undefined) throw notFound('API token')
    await endApiToken(trx, teamId, id, { teamId, actor: 'operator' })
  })
}
