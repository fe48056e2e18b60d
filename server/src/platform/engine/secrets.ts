// Replaces the passwords and secrets of a document by their stored form. A stored value of the same text stays, so that
// applying a file again neither changes it nor computes a hash.
import type { KeyRing } from '../../runtime/secrets.ts'
import { rowsByKey } from './define-kind.ts'
import type { WrittenSecret } from './check.ts'
import type { Current, Entry } from './kind.ts'
import type { Path } from './problem.ts'
import type { Registry } from './registry.ts'

export type SecretDeps = {
  readonly ring: KeyRing
  /** Returns the text of a file that the document names (`password_file`). Throws if it cannot be read. */
  readonly readText: (path: string) => string
}

/** Returns the entries with their secret fields; a secret that is not accepted or cannot be read is a problem. */
export async function resolveSecrets(
  registry: Registry,
  entries: readonly Entry[],
  secrets: readonly WrittenSecret[],
  current: Current,
  { ring, readText }: SecretDeps,
  problem: (path: Path, message: string) => void,
): Promise<Entry[]> {
  const byName = new Map(entries.map((entry) => [`${entry.kind} ${entry.key}`, entry]))
  for (const written of secrets) {
    const kind = registry.get(written.kind)
    const { objectionTo, store } = kind.fields[written.field]!.secret!
    const name = `${written.kind} ${written.key}`
    const entry = byName.get(name)
    const text = 'text' in written ? written.text : readFile(written, readText, problem)
    if (!entry || text === undefined) continue
    const objection = 'file' in written ? objectionTo?.(text, entry.fields) : undefined
    if (objection !== undefined) {
      problem(written.path, objection)
      continue
    }
    const stored = rowsByKey(current, kind).get(written.key)?.fields[written.field] as
      | string
      | null
      | undefined
    const value = await store(text, stored ?? undefined, ring, written.key)
    byName.set(name, { ...entry, fields: { ...entry.fields, [written.field]: value } })
  }
  return [...byName.values()]
}

function readFile(
  { file, path }: { readonly file: string; readonly path: Path },
  readText: (path: string) => string,
  problem: (path: Path, message: string) => void,
): string | undefined {
  try {
    const text = readText(file).replace(/\r?\n$/, '')
    if (text !== '') return text
    problem(path, `${file} is empty`)
  } catch (error) {
    problem(path, `${file} cannot be read: ${(error as Error).message}`)
  }
  return undefined
}
