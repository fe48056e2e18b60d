// Values whose key the installation no longer has: a lost key file, or the ring of another installation. Found before
// Pharos starts, because a new key would be used beside them and the failures would go unnoticed.
import { deriveKeys, type KeyRing } from '../runtime/secrets.ts'
import { acceptLostKeys, countRows, findColumns, readAcceptedKeys } from './lost-keys.store.ts'
import type { Db } from './postgres.ts'
import { sealedPlaces } from './reseal.ts'
import { countByKey, hasKeys } from './reseal.store.ts'

/** The keys and the database do not match; the message contains the solution. */
export class LostKeyError extends Error {}

/** Values of one kind that cannot be opened or verified. */
export type LostValues = { readonly noun: string; readonly count: number; readonly effect: string }

/** Columns with MACs. Their key is not stored with them, so that they are lost only if there is no ring at all. */
export const macPlaces: readonly (LostKind & { readonly table: string; readonly column: string })[] = [
  {
    noun: 'API tokens',
    table: 'api_tokens',
    column: 'secret_mac',
    effect: 'they are rejected; create new ones',
  },
  {
    noun: 'staff tokens',
    table: 'staff_tokens',
    column: 'secret_mac',
    effect: 'they are rejected; create new ones',
  },
  {
    noun: 'SCIM tokens',
    table: 'scim_tokens',
    column: 'secret_mac',
    effect: 'they are rejected; create new ones',
  },
  {
    noun: 'secrets of sources',
    table: 'sources',
    column: 'secret_mac',
    effect: 'deliveries of detectors are rejected until pharos apply has run',
  },
  { noun: 'recovery codes', table: 'recovery_codes', column: 'code_mac', effect: 'they are rejected' },
  {
    noun: 'recovery codes of teams',
    table: 'team_recovery_codes',
    column: 'code_mac',
    effect: 'they are rejected; create new ones',
  },
  {
    noun: 'links in mails',
    table: 'mail_tokens',
    column: 'secret_mac',
    effect: 'they are rejected; request new ones',
  },
  {
    noun: 'invitations',
    table: 'invitations',
    column: 'token_mac',
    effect: 'their links are rejected; send them again',
  },
  {
    noun: 'failed sign-ins',
    table: 'sign_in_failures',
    column: 'account_mac',
    effect: 'their counters start from zero',
  },
]

type LostKind = Pick<LostValues, 'noun' | 'effect'>

/**
 * Returns the kinds of values that the ring cannot open at all, without accepted losses. Without a ring these are all
 * values under any key. Works on the schema of any release.
 */
export async function findLostValues(db: Db, ring: KeyRing | null): Promise<LostValues[]> {
  const columns = await findColumns(db)
  const isKnown = ({ table, column }: { table: string; column: string }) => columns.has(`${table}.${column}`)
  const accepted = await readAcceptedKeys(db, columns.has('installation.lost_keys'))
  const lost: LostValues[] = []
  for (const place of sealedPlaces.filter(isKnown)) {
    const keys = ring === null ? [] : deriveKeys(ring, place.purpose).map(({ id }) => id)
    if (await hasKeys(db, place, keys)) continue
    const count = countUnder(await countByKey(db, place), accepted)
    if (count > 0) lost.push({ noun: place.noun, count, effect: place.effect })
  }
  if (ring !== null) return lost
  for (const { noun, table, effect } of macPlaces.filter(isKnown)) {
    const count = await countRows(db, table)
    if (count > 0) lost.push({ noun, count, effect })
  }
  return lost
}

function countUnder(byKey: ReadonlyMap<string, number>, accepted: ReadonlySet<string>): number {
  return [...byKey].reduce((sum, [key, count]) => (accepted.has(key) ? sum : sum + count), 0)
}

/** Records that the keys of all values that the ring cannot open are lost: they no longer prevent a start. */
export async function acceptLostValues(db: Db, ring: KeyRing): Promise<void> {
  const unknown = await Promise.all(
    sealedPlaces.map(async (place) => {
      const known = new Set(deriveKeys(ring, place.purpose).map(({ id }) => id))
      return [...(await countByKey(db, place)).keys()].filter((key) => !known.has(key))
    }),
  )
  await acceptLostKeys(db, [...new Set(unknown.flat())])
}
