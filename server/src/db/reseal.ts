// Seals every encrypted value under the newest key of the ring, so that an older key can be removed from it. Values of which
// only a MAC is stored cannot be moved this way: see docs/operating/rotate-keys.md.
import { findColumns, readAcceptedKeys } from './lost-keys.store.ts'
import type { Db } from './postgres.ts'
import { deriveKeys, keyIdOf, open, seal, type KeyRing, type Purpose } from '../runtime/secrets.ts'
import {
  countByKey,
  findSealed,
  listSealed,
  listSealedByAnother,
  replaceSealed,
  type RowName,
  type SealedPlace,
} from './reseal.store.ts'

export type SealedValue = SealedPlace & {
  /** Plural, for messages. */
  readonly noun: string
  readonly purpose: Purpose
  /** The consequence of a lost key. */
  readonly effect: string
  /** The context that the value was sealed with. */
  readonly context: (name: RowName) => string
}

/** Every column with sealed values. A test fails if a column is missing. */
export const sealedPlaces: readonly SealedValue[] = [
  {
    noun: 'signing keys',
    table: 'signing_keys',
    keys: ['kid'],
    column: 'private_key_sealed',
    purpose: 'signing-key',
    effect: 'users sign in again',
    context: ([kid]) => kid!,
  },
  {
    noun: 'second factors',
    table: 'second_factors',
    keys: ['user_id'],
    column: 'secret_sealed',
    purpose: 'totp',
    effect: 'users cannot sign in until their second factors are reset (pharos user reset-second-factor)',
    context: ([userId]) => userId!,
  },
  {
    noun: 'mails',
    table: 'mails',
    keys: ['id', 'template'],
    column: 'content_sealed',
    purpose: 'mail',
    effect: 'queued mails are not sent',
    context: ([, template]) => template!,
  },
  ...['secret_sealed', 'former_secret_sealed'].map((column): SealedValue => ({
    noun: column === 'secret_sealed' ? 'webhook secrets' : 'former webhook secrets',
    table: 'webhooks',
    keys: ['id'],
    column,
    purpose: 'webhook-secret',
    effect: 'webhooks are not sent until their secrets are rotated',
    context: ([id]) => id!,
  })),
  {
    noun: 'client secrets of identity providers',
    table: 'identity_providers',
    keys: ['key'],
    column: 'secret_sealed',
    purpose: 'identity-provider',
    effect: 'users cannot sign in with these identity providers until an admin enters the secrets again',
    context: ([key]) => key!,
  },
  {
    noun: 'client secrets of the sign-in of staff',
    table: 'staff_sign_in',
    keys: ['key'],
    column: 'secret_sealed',
    purpose: 'identity-provider',
    effect: 'staff cannot sign in with their identity provider until pharos apply has run',
    context: ([key]) => key!,
  },
  {
    noun: 'sign-ins with identity providers',
    table: 'auth_flows',
    keys: ['state_hash'],
    column: 'content_sealed',
    purpose: 'sign-in-flow',
    effect: 'sign-ins that are under way fail',
    // The hash in hexadecimal, as PostgreSQL writes it: `\x0101...`.
    context: ([stateHash]) => stateHash!,
  },
  {
    noun: 'TSIG keys',
    table: 'dns_tsig_keys',
    keys: ['name'],
    column: 'secret_sealed',
    purpose: 'tsig-key',
    effect: 'transfers with these keys are refused until pharos apply has run',
    context: ([name]) => name!,
  },
  {
    noun: 'DNSSEC keys',
    table: 'dns_keys',
    keys: ['zone_id', 'dnskey'],
    column: 'private_sealed',
    purpose: 'dnssec-key',
    effect: 'zones with these keys cannot change; their signatures expire after 14 days',
    // The rdata of the DNSKEY record in hexadecimal, as PostgreSQL writes it: `\x0101...`.
    context: ([zoneId, dnskey]) => `${zoneId} ${dnskey}`,
  },
  ...['community', 'auth', 'privacy'].map((secret): SealedValue => ({
    noun: secret === 'community' ? 'SNMP communities' : `SNMP ${secret} passwords`,
    table: 'device_credentials',
    keys: ['name'],
    column: `${secret}_sealed`,
    purpose: 'device-credential',
    effect: 'devices cannot be read until pharos apply has run',
    context: ([name]) => name!,
  })),
  {
    noun: 'kept answers',
    table: 'idempotency_keys',
    keys: ['team_id', 'credential', 'key'],
    column: 'body',
    inJson: true,
    purpose: 'kept-answer',
    effect: 'requests that are repeated with their Idempotency-Key fail',
    context: ([, credential, key]) => `${credential} ${key}`,
  },
]

type SealedCount = {
  readonly noun: string
  /** Number of values under the newest key of the ring, under another one, and under a key that is not in the ring. */
  readonly newest: number
  readonly older: number
  readonly unknown: number
}

export async function countSealed(db: Db, ring: KeyRing): Promise<SealedCount[]> {
  const counts: SealedCount[] = []
  for (const place of sealedPlaces) {
    const byKey = await countByKey(db, place)
    const [newest, ...older] = deriveKeys(ring, place.purpose).map(({ id }) => byKey.get(id) ?? 0)
    const all = [...byKey.values()].reduce(sum, 0)
    const olderCount = older.reduce(sum, 0)
    counts.push({
      noun: place.noun,
      newest: newest!,
      older: olderCount,
      unknown: all - newest! - olderCount,
    })
  }
  return counts
}

const sum = (a: number, b: number): number => a + b

type ResealOutcome = {
  readonly resealed: number
  /** Values that cannot be decrypted: their key is not in the ring, or they were altered. */
  readonly failed: readonly { readonly noun: string; readonly name: string; readonly error: string }[]
}

/**
 * Seals again values that are not under the newest key, one row at a time. Pharos may run at the same time: a value
 * that changed in between was sealed under the newest key by that change.
 */
export async function resealAll(db: Db, ring: KeyRing): Promise<ResealOutcome> {
  let resealed = 0
  const failed: ResealOutcome['failed'][number][] = []
  for (const place of sealedPlaces) {
    const [newest] = deriveKeys(ring, place.purpose)
    for (const name of await listSealedByAnother(db, place, newest!.id)) {
      const before = await findSealed(db, place, name)
      if (!before) continue
      const after = reseal(ring, place, name, before)
      if (after instanceof Error)
        failed.push({ noun: place.noun, name: name.join(' '), error: after.message })
      else if (await replaceSealed(db, place, name, before, after)) resealed += 1
    }
  }
  return { resealed, failed }
}

function reseal(
  ring: KeyRing,
  { purpose, context }: SealedValue,
  name: RowName,
  sealed: Buffer,
): Buffer | Error {
  try {
    return seal(ring, purpose, open(ring, purpose, sealed, context(name)), context(name))
  } catch (error) {
    return error as Error
  }
}

type OpenedCount = {
  readonly noun: string
  readonly opened: number
  /** Under a key whose loss was accepted. */
  readonly givenUp: number
  readonly failed: number
  /** The first value that cannot be decrypted. */
  readonly error: string | null
}

/** Decrypts every value of every kind without changing it. Works on the schema of any release. */
export async function openAll(db: Db, ring: KeyRing): Promise<OpenedCount[]> {
  const columns = await findColumns(db)
  const accepted = await readAcceptedKeys(db, columns.has('installation.lost_keys'))
  const counts: OpenedCount[] = []
  for (const place of sealedPlaces.filter(({ table, column }) => columns.has(`${table}.${column}`))) {
    const count = { noun: place.noun, opened: 0, givenUp: 0, failed: 0, error: null as string | null }
    for await (const batch of listSealed(db, place)) {
      for (const { name, sealed } of batch) {
        if (accepted.has(keyIdOf(sealed))) count.givenUp += 1
        else {
          const problem = problemOf(ring, place, name, sealed)
          if (problem === null) count.opened += 1
          else count.failed += 1
          count.error ??= problem
        }
      }
    }
    counts.push(count)
  }
  return counts
}

function problemOf(
  ring: KeyRing,
  { purpose, context }: SealedValue,
  name: RowName,
  sealed: Buffer,
): string | null {
  try {
    open(ring, purpose, sealed, context(name))
    return null
  } catch (error) {
    return (error as Error).message
  }
}
