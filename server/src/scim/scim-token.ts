// The SCIM token of an identity provider: created, rotated and deleted by admins of the team, and checked on each request of SCIM.
import type { BodyOf } from '@pharos/contract/route'
import type { createScimTokenRoute, CreatedScimToken } from '@pharos/contract/team/provider'
import { overlapHoursByDefault } from '@pharos/contract/team/token'
import { auditOf, writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { isUpgradeFinished } from '../db/release.ts'
import { runChange, type ChangeAnswer } from '../db/run-change.ts'
import { enterToManage, known, type ProviderDeps } from '../identity/provider.ts'
import { lockProvider } from '../identity/provider.store.ts'
import { findAddressPrefix, isAllowedFrom } from '../limit/allowed-from.ts'
import { parseCredentialNetworks } from '../limit/credential-settings.ts'
import type { Operation } from '../operation/operation.ts'
import { fail, notFound } from '../runtime/error.ts'
import { mac, verifyMac, type KeyRing } from '../runtime/secrets.ts'
import { createApiToken, formatApiToken, parseApiToken } from '../session/api-token-format.ts'
import { requireStillGranted } from '../team/team-lock.ts'
import type { ScimProvider } from './scim.store.ts'
import {
  deleteScimToken,
  findScimToken,
  findTokenOfProvider,
  insertScimToken,
  rotateScimToken,
  saveScimTokenUse,
} from './scim-token.store.ts'

export const baseUrlOf = (publicUrl: string): string => `${publicUrl}/scim/v2`

export type ScimTokenDeps = Pick<ProviderDeps, 'db' | 'postgres' | 'ring' | 'publicUrl'>

/** Turns SCIM on, or gives the provider a new secret. Throws `not_found`, `invalid`, and `conflict` during an upgrade. */
export async function createProviderToken(
  deps: ScimTokenDeps,
  operation: Operation,
  team: string,
  providerId: number,
  {
    overlap_hours: overlapHours = overlapHoursByDefault,
    allowed_subnets: subnets,
  }: BodyOf<typeof createScimTokenRoute>,
): Promise<ChangeAnswer<CreatedScimToken>> {
  const { ring, publicUrl } = deps
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  const networks = subnets === undefined ? undefined : parseCredentialNetworks(subnets)
  const isFinished = await isUpgradeFinished(deps.db)
  const create = async (trx: Parameters<Parameters<typeof runChange>[2]>[0]) => {
    await requireStillGranted(trx, inTeam, 'team.manage')
    known(await lockProvider(trx, teamId, providerId))
    // A process of the release before would let people join by signing in.
    if (!isFinished) throw fail('conflict', 'unfinishedUpgrade')
    const former = await findTokenOfProvider(trx, teamId, providerId)
    const token = createApiToken('scim')
    const secretMac = mac(ring, 'scim-token', token.secret)
    const id = former?.id ?? token.id
    if (former) await rotateScimToken(trx, teamId, id, { secretMac, overlapHours, networks })
    else await insertScimToken(trx, { id, teamId, providerId, secretMac, networks: networks ?? [] })
    const changed = { ...(networks ? { networks } : {}), ...(former ? { overlap_hours: overlapHours } : {}) }
    await writeAudit(trx, {
      ...auditOf(inTeam),
      ...entryOf(former ? 'rotate' : 'create', id),
      after: { provider: providerId, ...changed },
    })
    return { body: { token: formatApiToken({ ...token, id }), base_url: baseUrlOf(publicUrl) } }
  }
  return runChange(deps.postgres, inTeam, create, { sealedUnder: ring })
}

/** Turns SCIM off: its members stay, and signing in makes members again. Throws `not_found`. */
export async function deleteProviderToken(
  deps: ScimTokenDeps,
  operation: Operation,
  team: string,
  providerId: number,
): Promise<ChangeAnswer<null>> {
  const inTeam = await enterToManage(deps, operation, team)
  const { teamId } = inTeam.actor
  return runChange(deps.postgres, inTeam, async (trx) => {
    await requireStillGranted(trx, inTeam, 'team.manage')
    known(await lockProvider(trx, teamId, providerId))
    const token = await findTokenOfProvider(trx, teamId, providerId)
    if (!token) throw notFound('SCIM token')
    await deleteScimToken(trx, teamId, token.id)
    await writeAudit(trx, {
      ...auditOf(inTeam),
      ...entryOf('delete', token.id),
      before: { provider: providerId },
    })
    return { body: null }
  })
}

const entryOf = (verb: string, id: string) => ({ action: `scim_token.${verb}`, target: `scim_token:${id}` })

export type CheckDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly onUseError: (error: unknown) => void
}

export type CheckedToken = { readonly id: string; readonly provider: ScimProvider }

/** Reads the token on each request: one that is deleted ends at once. Throws `unauthenticated`. */
export function createTokenCheck({ db, ring, onUseError }: CheckDeps) {
  const touched = new Map<string, number>()

  function recordUse(id: string, before: Buffer | null, after: Buffer, address: string): void {
    const now = Date.now()
    if (now - (touched.get(id) ?? 0) < 60_000) return
    if (touched.size > 10_000) touched.clear()
    touched.set(id, now)
    const macs = before && { before, after }
    saveScimTokenUse(db, id, macs, findAddressPrefix(address) ?? null).catch(onUseError)
  }

  return async (header: string | undefined, address: string): Promise<CheckedToken> => {
    const [, text = ''] = /^bearer +([\x21-\x7e]{1,200})$/i.exec(header ?? '') ?? []
    const parsed = parseApiToken(text)
    if (parsed?.holder !== 'scim') throw notValid()
    const record = await findScimToken(db, parsed.id)
    // Compared even if there is no such token, so that both cases take the same time.
    const isNewest = verifyMac(ring, 'scim-token', parsed.secret, record?.secret_mac ?? Buffer.alloc(32))
    const isPrevious = verifyMac(ring, 'scim-token', parsed.secret, record?.previous_mac ?? Buffer.alloc(32))
    if (!record || !(isNewest || isPrevious) || !isAllowedFrom(record.networks, address)) throw notValid()
    recordUse(record.id, isNewest ? record.secret_mac : null, mac(ring, 'scim-token', parsed.secret), address)
    return { id: record.id, provider: { id: record.provider_id, teamId: record.team_id } }
  }
}

const notValid = () => fail('unauthenticated', 'credentialInvalid', { credential: 'SCIM token' })
