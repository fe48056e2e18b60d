// The migrations of before the first release, which were replaced by the first files of today. A database whose history is exactly these has the
// schema after those files (decision 158).
import { createHash } from 'node:crypto'

export type FormerHistory = {
  /** The number of former migrations. */
  readonly steps: number
  /** Digest of their numbers and hashes, see `digestOf`. */
  readonly sha256: string
  /** The number of files that replaced them. */
  readonly files: number
}

export const formerHistory: FormerHistory = {
  steps: 110,
  sha256: '7415859cc8160b57692f0ae9f0e6c5a641c66afa8ab7ae56eb9d9945f39f4b75',
  files: 12,
}

type Step = { readonly number: number; readonly sha256: string }

/** Returns the digest of a history, in the order of its steps. */
export function digestOf(steps: readonly Step[]): string {
  const lines = steps.map(({ number, sha256 }) => `${number} ${sha256}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}

/** Whether a history is exactly the former one: no step is missing, different or added. */
export const isFormerHistory = (steps: readonly Step[], former: FormerHistory): boolean =>
  steps.length === former.steps && digestOf(steps) === former.sha256
