// API tokens that the operator creates, lists and revokes: teams are named by their slug, and there is no quota.
import type { Resources } from '@pharos/contract/resource-limit'
import { scopes as knownScopes, type Scope } from '@pharos/contract/scope'
import type { Db } from '../db/postgres.ts'
import type { Prefix } from '../net/prefix.ts'
import { fail, invalid, notFound, type Failure } from '../runtime/error.ts'
import { didYouMean } from '../text/did-you-mean.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { revokeActiveApiToken, issueApiToken } from './api-token.ts'
import { readTokenDaysMax } from './api-token.store.ts'
import { expiryOf, requireOpenScopes } from './new-api-token.ts'
import {
  findTeamId,
  findTokenTeam,
  listAllTeamSlugs,
  listTokensOfTeams,
  type OperatorTokenRow,
} from './operator-token.store.ts'

export type { OperatorTokenRow }

export type TokenRequest = {
  readonly team: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly networks: readonly Prefix[]
  readonly isAdmin: boolean
  /** Null: all of the team. */
  readonly resources: Resources | null
  /** Undefined: the time that the API gives; null: never. */
  readonly expires: Date | null | undefined
  readonly maxUnusedDays: number | null
}

/**
 * Creates a token of the team with the rules of the API; `text` is the token itself, which is not stored. Throws `not_found`,
 * `invalid`.
 */
export async function createTeamToken(
  db: Db,
  ring: KeyRing,
  request: TokenRequest,
): Promise<{ readonly id: string; readonly text: string; readonly expires: Date | null }> {
  refuseUnknownScopes(request.scopes)
  if (request.resources) requireOpenScopes(request.scopes as readonly Scope[], request.resources)
  return db.transaction().execute(async (trx) => {
    const teamId = await findTeamId(trx, request.team)
    if (teamId === undefined) throw unknownTeam(request.team, await listAllTeamSlugs(trx))
    const expires = expiryOf(request.expires, await readTokenDaysMax(trx, teamId), new Date())
    const settings = { ...request, expires, teamId, createdBy: null, serviceAccountId: null }
    const { row, text } = await issueApiToken(trx, ring, settings, { teamId, actor: 'operator' })
    return { id: row.id, text, expires }
  })
}

function refuseUnknownScopes(scopes: readonly string[]): void {
  if (scopes.length === 0) throw invalid(['scopes'], 'scopesMissing', { known: knownScopes })
  const unknown = scopes.find((scope) => !(knownScopes as readonly string[]).includes(scope))
  if (unknown !== undefined) throw invalid(['scopes'], 'scope', { unknown, known: knownScopes })
}

function unknownTeam(slug: string, slugs: readonly string[]): Failure {
  const hint =
    didYouMean(slug, slugs) ||
    (slugs.length > 0 ? '' : '; there are no teams yet: create one with pharos apply')
  return fail('not_found', 'team', { slug, hint })
}

/** Lists the active tokens, newest first, of one team or, without `team`, of all. */
export async function listTeamTokens(db: Db, team?: string): Promise<OperatorTokenRow[]> {
  if (team !== undefined && (await findTeamId(db, team)) === undefined)
    throw unknownTeam(team, await listAllTeamSlugs(db))
  return listTokensOfTeams(db, team)
}

/** Revokes a token; no effect on a revoked token. Throws `not_found`. */
export async function revokeTeamToken(db: Db, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const teamId = await findTokenTeam(trx, id)
    if (teamId === undefined) throw notFound('API token')
    await revokeActiveApiToken(trx, teamId, id, { teamId, actor: 'operator' })
  })
}
