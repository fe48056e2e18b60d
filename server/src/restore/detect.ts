// Decides whether the database went back in time, from the memory of this process and the current database. Pure.
import type { Head } from '../audit/seal.store.ts'
import type { DatabaseIdentity, Witness } from './witness.ts'

/** The database now, in one snapshot. */
export type DatabaseNow = {
  readonly installation: string | null
  /** Id of the open restore. */
  readonly openId: number | null
  /** When the newest closed restore was closed; empty without one. */
  readonly closed: string
  readonly head: Head | null
  /** When the entry of the head was written; ISO 8601. */
  readonly headAt: string | null
  /** Whether the chain contains the head of the witness; null without a witness. */
  readonly contained: boolean | null
  /** The oldest seal: the retention deletes earlier ones. */
  readonly first: number | null
  /** ISO 8601, by the clock of the database. */
  readonly at: string
}

/**
 * `agrees`: the database is the remembered one, or later; `decided`: it went back, and staff have decided about that
 * since; `unknown`: there is no memory to compare with.
 */
export type Verdict = 'agrees' | 'decided' | 'went_back' | 'unknown'

export function compareWitness(witness: Witness | undefined, seen: DatabaseNow): Verdict {
  if (!witness || seen.contained === null) return 'unknown'
  if (seen.contained) return 'agrees'
  if (seen.closed > witness.closed) return 'decided'
  if (isOther(witness, seen)) return 'unknown'
  if (seen.first !== null && witness.head.sequence < seen.first) return 'unknown'
  return 'went_back'
}

/**
 * An old data directory with the database of another installation, or with a new database that no process has used yet.
 */
const isOther = ({ installation }: Witness, seen: DatabaseNow): boolean =>
  seen.installation === null ? seen.head === null : seen.installation !== installation

const sameDatabase = (a: DatabaseIdentity, b: DatabaseIdentity): boolean =>
  a.systemIdentifier === b.systemIdentifier && a.oid === b.oid

/** Seconds by which the last entry of a database may be newer than a witness that confirms its place. */
const confirmSeconds = 60

/**
 * The meaning of another place of the database. A process that remembers its newest entries confirms the move; a
 * process without memory cannot distinguish a move from a restore. `stored`: the place that was last confirmed, null
 * without one.
 */
export function compareIdentity(
  verdict: Verdict,
  witness: Witness | undefined,
  { headAt }: Pick<DatabaseNow, 'headAt'>,
  stored: DatabaseIdentity | null,
  found: DatabaseIdentity,
): 'same' | 'confirmed' | 'other_database' {
  if (stored !== null && sameDatabase(stored, found)) return 'same'
  if (stored === null || verdict === 'decided') return 'confirmed'
  if (verdict !== 'agrees' || !witness) return 'other_database'
  const isNewest = headAt === null || Date.parse(headAt) <= Date.parse(witness.at) + confirmSeconds * 1000
  return isNewest ? 'confirmed' : 'other_database'
}
