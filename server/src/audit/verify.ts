// Verifies the chain from the oldest kept seal to the newest, while the product runs: each batch is one statement and
// thus one snapshot. Read-only.
import type { Db } from '../db/postgres.ts'
import { deriveKeys, type KeyRing } from '../runtime/secrets.ts'
import {
  findEntryIds,
  findExpiry,
  findFirstSequence,
  findHead,
  findSeal,
  hasEntry,
  listSeals,
  listUnsealed,
  type SealExpiry,
  type Head,
  type SealRow,
} from './seal.store.ts'
import { ChainVerifier, type Broken } from './verify-chain.ts'

export type VerifyOptions = {
  /** Sequence of the first seal to read; it is trusted. */
  readonly from?: number
  /** A head recorded earlier: the chain must still contain it. */
  readonly noted?: Head
  readonly retiredKeys?: ReadonlySet<string>
  /** Called with the number of verified seals from time to time. */
  readonly onProgress?: (seals: number) => void
}

export type Verification = {
  readonly right: number
  readonly notCheckable: number
  /** The first broken seals in chain order, at most ten; further ones are only counted. */
  readonly broken: readonly Broken[]
  readonly brokenCount: number
  /** Entries that have been unsealed for more than a minute: the sealer does not run. */
  readonly waiting: number
  readonly head: Head | undefined
  /** Time of the last retention run that dropped months. */
  readonly expired: string | undefined
}

const batchSize = 1_000
const progressEvery = 100_000
const idsAtOnce = 50_000
const shownMax = 10

type Tally = { right: number; notCheckable: number; broken: Broken[]; brokenCount: number; last?: Head }

export async function verifyAudit(
  { db, ring }: { readonly db: Db; readonly ring: KeyRing },
  options: VerifyOptions = {},
): Promise<Verification> {
  const tally: Tally = { right: 0, notCheckable: 0, broken: [], brokenCount: 0 }
  const expiry = await findExpiry(db)
  await verifyChain(db, ring, options, expiry, tally)
  if (options.noted) await compareHead(db, options.noted, expiry, tally)
  const waiting = await reportUnsealed(db, tally)
  const { right, notCheckable, broken, brokenCount, last } = tally
  return { right, notCheckable, broken, brokenCount, waiting, head: last, expired: expiry?.at }
}

function note(tally: Tally, broken: Broken): void {
  tally.brokenCount += 1
  if (tally.broken.length < shownMax) tally.broken.push(broken)
}

async function verifyChain(
  db: Db,
  ring: KeyRing,
  { from, retiredKeys = new Set(), onProgress }: VerifyOptions,
  expiry: SealExpiry | undefined,
  tally: Tally,
): Promise<void> {
  const verifier = new ChainVerifier(
    { keys: deriveKeys(ring, 'audit'), retiredKeys, expiry },
    from === undefined ? await beforeFirst(db, expiry?.firstSequence, tally) : from - 1,
  )
  let seen = 0
  for (;;) {
    const batch = await listSeals(db, verifier.sequence, batchSize)
    await skipDroppedMonths(db, verifier, batch)
    for (const seal of batch) await step(db, verifier, seal, batch, tally)
    const reported = Math.floor(seen / progressEvery)
    seen += batch.length
    if (Math.floor(seen / progressEvery) > reported) onProgress?.(seen)
    if (batch.length < batchSize) return
  }
}

/** The position before the oldest seal: the start of the chain, or the cut recorded by the last retention run. */
async function beforeFirst(db: Db, kept: number | undefined, tally: Tally): Promise<number> {
  const first = (await findFirstSequence(db)) ?? 1
  if (first === 1 || first === kept) return first - 1
  note(tally, { kind: 'beginning missing', sequence: first, entryId: null, at: null })
  return first - 1
}

/** Months may be dropped while the chain is verified. */
async function skipDroppedMonths(db: Db, verifier: ChainVerifier, [next]: readonly SealRow[]): Promise<void> {
  if (!next || next.sequence === verifier.sequence + 1) return
  const [first, expiry] = [await findFirstSequence(db), await findExpiry(db)]
  if (first === expiry?.firstSequence && first !== undefined && first > verifier.sequence)
    verifier.skipTo(first - 1)
}

async function step(
  db: Db,
  verifier: ChainVerifier,
  seal: SealRow,
  batch: readonly SealRow[],
  tally: Tally,
): Promise<void> {
  if (seal.sequence <= verifier.sequence) return
  tally.last = { sequence: seal.sequence, hash: seal.hash }
  for (const result of verifier.step(seal, batch)) {
    if (result === 'right') tally.right += 1
    else if (result === 'not checkable') tally.notCheckable += 1
    else note(tally, await correctKind(db, result))
  }
}

/** An entry whose time differs from that of its seal was changed, not deleted. */
async function correctKind(db: Db, broken: Broken): Promise<Broken> {
  const isThere = broken.kind === 'missing entry' && (await hasEntry(db, broken.entryId!))
  return isThere ? { ...broken, kind: 'changed' } : broken
}

async function compareHead(db: Db, noted: Head, expiry: SealExpiry | undefined, tally: Tally): Promise<void> {
  const { sequence } = noted
  const found = await findSeal(db, sequence)
  if (found?.hash.equals(noted.hash)) return
  const last = (await findHead(db))?.sequence ?? 0
  const isGone = !found && expiry !== undefined && sequence < expiry.firstSequence
  const kind = sequence > last ? 'end cut off' : isGone ? 'head expired' : 'other head'
  note(tally, { kind, sequence, entryId: null, at: null })
}

/**
 * Returns the number of entries that wait for a seal; entries that are neither sealed nor waiting are reported as
 * broken.
 */
async function reportUnsealed(db: Db, tally: Tally): Promise<number> {
  const ids = await findEntryIds(db)
  if (!ids) return 0
  let waiting = 0
  for (let after = ids.first - 1; after < ids.last; after += idsAtOnce) {
    for (const { id, at, isWaiting } of await listUnsealed(
      db,
      after,
      Math.min(ids.last, after + idsAtOnce),
    )) {
      if (isWaiting) waiting += 1
      else note(tally, { kind: 'missing seal', sequence: null, entryId: id, at })
    }
  }
  return waiting
}
