// The TSIG keys of a team: keys of the platform file, and keys that the team creates for name servers and programs.
// Only the answer to the creation contains the secret.
import { randomBytes, randomInt } from 'node:crypto'
import type {
  CreatedTsigKey,
  createTsigKeyRoute,
  listTsigKeysRoute,
  TsigKey,
} from '@pharos/contract/dns/tsig'
import type { ZoneResources } from '@pharos/contract/resource-limit'
import type { BodyOf, QueryOf } from '@pharos/contract/route'
import { auditOf, writeAudit } from '../../db/audit.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { runChange, type ChangeAnswer } from '../../db/run-change.ts'
import { parseCredentialExpiry, parseCredentialNetworks } from '../../limit/credential-settings.ts'
import { insertLimits } from '../../limit/resource-limit.store.ts'
import { findResources, presentResources } from '../../limit/resources.ts'
import { etagOf, requireMatch } from '../../operation/etag.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import { fail, invalid, notFound } from '../../runtime/error.ts'
import { seal, type KeyRing } from '../../runtime/secrets.ts'
import { requireStillGranted } from '../../team/team-lock.ts'
import { shownZoneName } from '../zone/zone-name.ts'
import type { DomainName } from '../../net/dns/name.ts'
import {
  countTsigKeys,
  deleteTsigKeyRow,
  findTsigKey,
  findZoneWithPrimaryKey,
  insertTsigKey,
  listTsigKeyRows,
  readTsigKey,
  type TsigKeyRow,
} from './tsig-keys.store.ts'

export type TsigKeyDeps = { readonly postgres: Postgres; readonly ring: KeyRing; readonly now: () => Date }

/** Most keys that a team may create. */
const keysMax = 100

export async function listTsigKeys(
  { postgres }: Pick<TsigKeyDeps, 'postgres'>,
  { actor: { teamId } }: Operation,
  query: QueryOf<typeof listTsigKeysRoute>,
): Promise<{ results: TsigKey[]; count: number }> {
  const { page, count } = await listTsigKeyRows(postgres, teamId, query)
  return { results: page.map(present), count }
}

/** Throws `not_found`. */
export async function getTsigKey(
  { postgres }: Pick<TsigKeyDeps, 'postgres'>,
  { actor: { teamId } }: Operation,
  id: number,
): Promise<ChangeAnswer<TsigKey>> {
  const row = await findTsigKey(postgres, teamId, id)
  if (!row) throw notFound('TSIG key')
  const body = present(row)
  return { body, etag: etagOf(body) }
}

/** Throws `quota_exceeded`, `invalid`, and `not_found` for a zone that the team does not have. */
export function createTsigKey(
  { postgres, ring, now }: TsigKeyDeps,
  operation: Operation,
  body: BodyOf<typeof createTsigKeyRoute>,
): Promise<ChangeAnswer<CreatedTsigKey>> {
  const {
    label,
    algorithm = 'hmac-sha256',
    may_update: mayUpdate = false,
    may_transfer: mayTransfer = false,
  } = body
  const networks = parseCredentialNetworks(body.allowed_subnets ?? [])
  const expires = parseCredentialExpiry(body.expires ?? null, now())
  const { teamId } = operation.actor
  const create = async (trx: Trx) => {
    if (!mayUpdate && !mayTransfer) throw invalid(['body', 'may_update'], 'uselessKey')
    await requireStillGranted(trx, operation, 'dns.manage')
    if ((await countTsigKeys(trx, teamId)) >= keysMax)
      throw fail('quota_exceeded', 'tsigKeys', { limit: keysMax })
    const limits = body.resources && (await findResources(trx, teamId, body.resources, ['body', 'resources']))
    const name = `${label}-${randomText(8)}.`
    const secret = randomBytes(secretOctets[algorithm])
    const id = await insertTsigKey(trx, teamId, {
      name,
      label,
      algorithm,
      secretSealed: seal(ring, 'tsig-key', secret, name),
      mayUpdate,
      mayTransfer,
      networks,
      expires,
      isLimited: limits !== undefined,
      creator: actorName(operation.actor),
    })
    if (limits) await insertLimits(trx, teamId, { tsigKeyId: id }, limits)
    const key = present((await readTsigKey(trx, teamId, id))!)
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('create', id), after: key })
    return { body: { ...key, secret: secret.toString('base64') }, etag: etagOf(key) }
  }
  return runChange(postgres, operation, create, { sealedUnder: ring })
}

/** Throws `not_found`, `precondition_failed`, and `conflict` for a key of the provider or of a secondary zone. */
export function deleteTsigKey(
  { postgres }: Pick<TsigKeyDeps, 'postgres'>,
  operation: Operation,
  id: number,
): Promise<ChangeAnswer<null>> {
  const { teamId } = operation.actor
  return runChange(postgres, operation, async (trx) => {
    await requireStillGranted(trx, operation, 'dns.manage')
    await countTsigKeys(trx, teamId)
    const row = await readTsigKey(trx, teamId, id)
    if (!row) throw notFound('TSIG key')
    const before = present(row)
    requireMatch(operation.ifMatch, etagOf(before))
    if (row.managed_by === 'provider') throw fail('conflict', 'tsigKeyOfProvider')
    const zone = await findZoneWithPrimaryKey(trx, teamId, id)
    if (zone !== undefined)
      throw fail('conflict', 'tsigKeyInUse', { zone: shownZoneName(zone as DomainName) })
    await deleteTsigKeyRow(trx, teamId, id)
    await writeAudit(trx, { ...auditOf(operation), ...entryOf('delete', id), before })
    return { body: null, before }
  })
}

/** The length of the hash output (RFC 2104 section 3). */
const secretOctets = { 'hmac-sha256': 32, 'hmac-sha384': 48, 'hmac-sha512': 64 } as const

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** Names are unique over all teams: a chosen one would reveal whether another team has it. */
const randomText = (length: number): string =>
  Array.from({ length }, () => letters[randomInt(letters.length)]).join('')

const entryOf = (verb: string, id: number) => ({ action: `tsig_key.${verb}`, target: `tsig_key:${id}` })

function present({ networks, limits, creator, expires, created, ...row }: TsigKeyRow): TsigKey {
  return {
    ...row,
    resources: presentResources(limits) as ZoneResources | null,
    allowed_subnets: networks,
    expires: expires?.toISOString() ?? null,
    created: created.toISOString(),
    created_by: creator,
  }
}
