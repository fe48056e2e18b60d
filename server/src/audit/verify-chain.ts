// Verifies the chain seal by seal. Pure. For each seal it returns whether it follows from the previous seal and its
// entry, and otherwise the error. After a broken seal it continues from that seal's hash, so that one change is one
// error.
import type { DerivedKey } from '../runtime/secrets.ts'
import { chainStart, sealHash, type EntryText } from './canonical.ts'
import { isEntry, type SealExpiry, type SealRow } from './seal.store.ts'

export type BrokenKind =
  | 'beginning missing'
  | 'missing seal'
  | 'missing entry'
  | 'changed'
  | 'wrong order'
  | 'unknown key'
  | 'end cut off'
  | 'other head'
  | 'head expired'

export type Broken = {
  readonly kind: BrokenKind
  readonly sequence: number | null
  readonly entryId: number | null
  readonly at: string | null
}

export type ChainVerifierOptions = {
  /** The keys derived for the purpose `audit`. */
  readonly keys: readonly DerivedKey[]
  /** Ids of keys removed from the ring: seals under them are skipped, up to the first seal under a current key. */
  readonly retiredKeys: ReadonlySet<string>
  readonly expiry: SealExpiry | undefined
}

/** Result for one seal: valid, not verifiable (its key or the previous seal is missing), or broken. */
export type SealResult = 'right' | 'not checkable' | Broken

export class ChainVerifier {
  readonly #options: ChainVerifierOptions
  readonly #withoutEntry: ReadonlySet<number>
  #sequence: number
  /** Undefined before the first kept seal. */
  #hash: Buffer | undefined
  #retiredMayCome = true

  /** Starts after `sequence`: with 0 at the start of the chain, otherwise with a trusted hash. */
  constructor(options: ChainVerifierOptions, sequence: number) {
    this.#options = options
    this.#withoutEntry = new Set(options.expiry?.withoutEntry)
    this.#sequence = sequence
    this.#hash = sequence === 0 ? chainStart : undefined
  }

  get sequence(): number {
    return this.#sequence
  }

  /** Continues after `sequence`: the seals up to it were dropped with their months. */
  skipTo(sequence: number): void {
    this.#sequence = sequence
    this.#hash = undefined
  }

  /** Verifies the next seal; `batch` contains the seals read with it, which help to identify the kind of error. */
  step(seal: SealRow, batch: readonly SealRow[]): SealResult[] {
    const gap = seal.sequence !== this.#sequence + 1
    const results: SealResult[] = gap ? [missingSeal(this.#sequence + 1)] : []
    if (gap) this.#hash = undefined
    results.push(this.#verifySeal(seal, batch))
    this.#sequence = seal.sequence
    this.#hash = seal.hash
    return results
  }

  #verifySeal(seal: SealRow, batch: readonly SealRow[]): SealResult {
    const broken = (kind: BrokenKind): Broken => ({
      kind,
      sequence: seal.sequence,
      entryId: seal.entryId,
      at: seal.entryAt,
    })
    if (!isEntry(seal))
      return this.#withoutEntry.has(seal.sequence) ? 'not checkable' : broken('missing entry')
    const key = this.#options.keys.find(({ id }) => id === seal.keyId)?.key
    if (!key) return this.#mayBeRetired(seal) ? 'not checkable' : broken('unknown key')
    this.#retiredMayCome = false
    if (seal.sealTeam !== seal.team_id) return broken('changed')
    if (!this.#hash) return 'not checkable'
    if (sealHash(key, this.#hash, seal.sequence, seal).equals(seal.hash)) return 'right'
    return broken(isMoved(key, seal, seal, batch) ? 'wrong order' : 'changed')
  }

  #mayBeRetired({ keyId }: SealRow): boolean {
    return this.#retiredMayCome && this.#options.retiredKeys.has(keyId)
  }
}

function missingSeal(sequence: number): Broken {
  return { kind: 'missing seal', sequence, entryId: null, at: null }
}

/** How many positions around a seal are tried to find out that it was moved. */
const reach = 8

/** Returns whether the seal is valid at a nearby position: after another hash, with another sequence. */
function isMoved(key: Buffer, seal: SealRow, entry: EntryText, batch: readonly SealRow[]): boolean {
  const near = batch.filter(({ sequence }) => Math.abs(sequence - seal.sequence) <= reach)
  return near.some(({ hash }) =>
    near.some(({ sequence }) => sealHash(key, hash, sequence, entry).equals(seal.hash)),
  )
}
