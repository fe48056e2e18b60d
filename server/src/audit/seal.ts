// Seals entries: each unsealed entry gets the next position in the chain. This runs right after the commit, not within
// it, because every change would otherwise hold a lock until its commit; decision 016 has the measured cost.
import { writeAudit } from '../db/audit.ts'
import type { Db, Trx } from '../db/postgres.ts'
import { deriveKeys, type KeyRing } from '../runtime/secrets.ts'
import { chainStart, sealHash } from './canonical.ts'
import {
  findHead,
  insertSeals,
  isEntry,
  listWaiting,
  removeFromUnsealed,
  type NewSeal,
  type WaitingEntry,
} from './seal.store.ts'

export type SealedEntries = {
  readonly sealed: number
  /** Entries that were deleted before they were sealed. */
  readonly missing: readonly number[]
}

const batchSize = 1_000

/** Seals all unsealed entries in batches. Concurrent runs are safe: one of them fails without sealing. */
export async function sealAll(
  db: Db,
  ring: KeyRing,
  signal: AbortSignal,
  limit = batchSize,
): Promise<SealedEntries> {
  let sealed = 0
  const missing: number[] = []
  for (;;) {
    signal.throwIfAborted()
    const batch = await db.transaction().execute((trx) => sealBatch(trx, ring, limit))
    sealed += batch.sealed
    missing.push(...batch.missing)
    if (batch.sealed + batch.missing.length < limit) return { sealed, missing }
  }
}

async function sealBatch(trx: Trx, ring: KeyRing, limit: number): Promise<SealedEntries> {
  const waiting = await listWaiting(trx, limit)
  if (waiting.length === 0) return { sealed: 0, missing: [] }
  const missing = waiting.filter((one) => !isEntry(one))
  if (missing.length > 0) await recordMissing(trx, missing)
  const { id: keyId, key } = deriveKeys(ring, 'audit')[0]!
  const seals = chain(key, (await findHead(trx)) ?? { sequence: 0, hash: chainStart }, waiting)
  const added = seals.length > 0 ? await insertSeals(trx, keyId, seals) : 0
  if (added !== seals.length) throw new Error('another process is sealing the audit log')
  return { sealed: added, missing: missing.map(({ entryId }) => entryId) }
}

function chain(
  key: Buffer,
  head: { sequence: number; hash: Buffer },
  waiting: readonly WaitingEntry[],
): NewSeal[] {
  let { sequence, hash } = head
  return waiting.filter(isEntry).map((entry) => {
    sequence += 1
    hash = sealHash(key, hash, sequence, entry)
    const teamId = entry.team_id === null ? null : Number(entry.team_id)
    return { sequence, entryId: Number(entry.id), teamId, hash }
  })
}

/** The content of a deleted entry is lost; its absence is recorded as an entry, which is sealed as well. */
async function recordMissing(trx: Trx, missing: readonly WaitingEntry[]): Promise<void> {
  await removeFromUnsealed(
    trx,
    missing.map(({ entryId }) => entryId),
  )
  await writeAudit(
    trx,
    ...missing.map(({ entryId, entryAt }) => ({
      teamId: null,
      actor: 'pharos',
      action: 'audit.missing',
      target: `audit:${entryId}`,
      before: { at: entryAt },
    })),
  )
}
