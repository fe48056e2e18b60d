// Makes what is stored of passwords and secrets from what the operator's file gives: a hash, a MAC. One that is stored
// already is taken as it is, so that applying a file again changes nothing and costs no hash.
import { equalBytes, mac, type KeyRing } from '../runtime/secrets.ts'
import { hashPassword, isPassword } from '../session/password.ts'
import type { Credential } from './check-context.ts'
import { passwordProblem } from './check-people.ts'
import type { Current, Entry } from './platform.ts'
import type { Path } from './problem.ts'

export type CredentialDeps = {
  readonly ring: KeyRing
  /** The text of a file that the platform file names; throws when it cannot be read. */
  readonly readText: (file: string) => string
  readonly problem: (path: Path, message: string) => void
}

/** The entries with `password_hash` and `secret_mac` filled in; what cannot be read is a problem. */
export async function resolveCredentials(
  entries: readonly Entry[],
  credentials: readonly Credential[],
  current: Current,
  deps: CredentialDeps,
): Promise<Entry[]> {
  const resolved = new Map<string, Record<string, string>>()
  const demos = new Set(entries.filter(isDemoUser).map(({ key }) => key))
  for (const credential of credentials) {
    const name = `${credential.kind} ${credential.key}`
    const text = textOf(credential, deps)
    if (text === undefined) continue
    if (credential.kind === 'source') {
      const stored = current.source.get(credential.key)?.fields.secret_mac
      resolved.set(name, { secret_mac: macOf(text, stored, deps.ring) })
    } else if (isAllowed(credential, text, demos, deps)) {
      const stored = current.user.get(credential.key)?.fields.password_hash
      resolved.set(name, { password_hash: await hashOf(text, stored) })
    }
  }
  return entries.map((entry) => {
    const more = resolved.get(`${entry.kind} ${entry.key}`)
    return more ? ({ ...entry, fields: { ...entry.fields, ...more } } as Entry) : entry
  })
}

function textOf({ text, file, path }: Credential, deps: CredentialDeps): string | undefined {
  if (text !== undefined) return text
  try {
    const read = deps.readText(file).replace(/\r?\n$/, '')
    if (read !== '') return read
    deps.problem(path, `${file} is empty`)
  } catch (error) {
    deps.problem(path, `${file} cannot be read: ${(error as Error).message}`)
  }
  return undefined
}

/** A password in the file itself was checked with the file; one in a file of its own is checked here. */
function isAllowed(
  { key, file, path }: Credential,
  text: string,
  demos: ReadonlySet<string>,
  deps: CredentialDeps,
): boolean {
  const wrong = passwordProblem(text, key, demos.has(key))
  if (wrong !== undefined && file !== undefined) deps.problem(path, wrong)
  return wrong === undefined
}

function isDemoUser(entry: Entry): boolean {
  return entry.kind === 'user' && entry.fields.demo === true
}

async function hashOf(password: string, stored: string | undefined): Promise<string> {
  if (stored !== undefined && (await isPassword(stored, password))) return stored
  return await hashPassword(password)
}

/** The MAC in hexadecimal. One under an older key of the ring is renewed, so that this key can leave the ring. */
function macOf(secret: string, stored: string | undefined, ring: KeyRing): string {
  const fresh = mac(ring, 'source-secret', secret)
  return stored !== undefined && equalBytes(Buffer.from(stored, 'hex'), fresh)
    ? stored
    : fresh.toString('hex')
}
