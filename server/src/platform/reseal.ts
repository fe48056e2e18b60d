// Every sealed value under the newest key of the ring, so that an older key can leave it. What is only known by its MAC
// cannot be moved so: see docs/operating.md.
import type { Db } from '../db/postgres.ts'
import { deriveKeys, open, seal, type KeyRing, type Purpose } from '../runtime/secrets.ts'
import {
  countByKey,
  findSealed,
  listSealedByAnother,
  replaceSealed,
  type RowName,
  type SealedPlace,
} from './reseal.store.ts'

export type Sealed = SealedPlace & {
  /** As the operator reads it. */
  readonly noun: string
  readonly purpose: Purpose
  /** What the value is bound to, as whoever sealed it says. */
  readonly context: (name: RowName) => string
}

/** Every place with sealed values. A column that is missing here fails a test. */
export const sealedPlaces: readonly Sealed[] = [
  {
    noun: 'signing keys',
    table: 'signing_keys',
    keys: ['kid'],
    column: 'private_key_sealed',
    purpose: 'signing-key',
    context: ([kid]) => kid!,
  },
  {
    noun: 'second factors',
    table: 'second_factors',
    keys: ['user_id'],
    column: 'secret_sealed',
    purpose: 'totp',
    context: ([userId]) => userId!,
  },
  {
    noun: 'mails',
    table: 'mails',
    keys: ['id', 'template'],
    column: 'content_sealed',
    purpose: 'mail',
    context: ([, template]) => template!,
  },
  ...['secret_sealed', 'former_secret_sealed'].map((column): Sealed => ({
    noun: column === 'secret_sealed' ? 'webhook secrets' : 'former webhook secrets',
    table: 'webhooks',
    keys: ['id'],
    column,
    purpose: 'webhook-secret',
    context: ([id]) => id!,
  })),
  {
    noun: 'kept answers',
    table: 'idempotency_keys',
    keys: ['team_id', 'credential', 'key'],
    column: 'body',
    inJson: true,
    purpose: 'kept-answer',
    context: ([, credential, key]) => `${credential} ${key}`,
  },
]

export type SealedCount = {
  readonly noun: string
  /** Under the newest key of the ring; under another of it; under one that is not in it. */
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

export type ResealOutcome = {
  readonly resealed: number
  /** Those that do not open: their key is not in the ring, or they were changed. */
  readonly failed: readonly { readonly noun: string; readonly name: string; readonly error: string }[]
}

/**
 * Seals anew what is not under the newest key, one row at a time; may run while Pharos does, and any number of times.
 * What somebody changed meanwhile was sealed under the newest key by whoever did.
 */
export async function resealAll(db: Db, ring: KeyRing): Promise<ResealOutcome> {
  let resealed = 0
  const failed: ResealOutcome['failed'][number][] = []
  for (const place of sealedPlaces) {
    const [newest] = deriveKeys(ring, place.purpose)
    for (const name of await listSealedByAnother(db, place, newest!.id)) {
      const before = await findSealed(db, place, name)
      if (!before) continue
      const after = sealAnew(ring, place, name, before)
      if (after instanceof Error)
        failed.push({ noun: place.noun, name: name.join(' '), error: after.message })
      else if (await replaceSealed(db, place, name, before, after)) resealed += 1
    }
  }
  return { resealed, failed }
}

function sealAnew(
  ring: KeyRing,
  { purpose, context }: Sealed,
  name: RowName,
  sealed: Buffer,
): Buffer | Error {
  try {
    return seal(ring, purpose, open(ring, purpose, sealed, context(name)), context(name))
  } catch (error) {
    return error as Error
  }
}
