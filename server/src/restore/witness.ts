// The witness: the memory of a process about its database, in memory and in `<data_dir>/witness.json`. It is outside of
// the database, so that it survives when the database goes back in time.
import { readFileSync } from 'node:fs'
import { formatHead, parseHead } from '../audit/head.ts'
import type { Head } from '../audit/seal.store.ts'
import { replaceFile } from '../runtime/files.ts'

/** The place of the rows: another place alone is no evidence of another time, but it needs a confirmation. */
export type DatabaseIdentity = {
  readonly systemIdentifier: string
  readonly oid: number
  /** Changes with every promotion of a standby; only recorded. */
  readonly timeline: number
}

export type Witness = {
  /** Id of the installation, which a fresh database does not have. */
  readonly installation: string | null
  readonly database: DatabaseIdentity | null
  readonly head: Head
  /** When the newest known restore was closed, as the database prints it; empty without one. */
  readonly closed: string
  /** ISO 8601, by the clock of the database. */
  readonly at: string
}

type StoredWitness = Omit<Witness, 'head'> & { readonly head: string }

export type WitnessFile = {
  /** Returns undefined if it is missing or cannot be parsed. */
  read(): Witness | undefined
  write(witness: Witness): Promise<void>
}

export function createWitnessFile(path: string): WitnessFile {
  return {
    read() {
      try {
        const stored = JSON.parse(readFileSync(path, 'utf8')) as StoredWitness
        const head = parseHead(stored.head)
        return head && { ...stored, head }
      } catch {
        return undefined
      }
    },
    write(witness) {
      const stored: StoredWitness = { ...witness, head: formatHead(witness.head) }
      return replaceFile(path, `${JSON.stringify(stored, null, 2)}\n`)
    },
  }
}
