// Collects the secrets that a test's API calls send and receive, identified by their field names: for tests of where secrets must
// not be stored or logged.
import { open } from '../../src/runtime/secrets.ts'
import type { TestApi } from '../api.ts'

/** Field names of secrets in requests and responses. */
const secretNames =
  /^(access|refresh|token|authorization|secret|otp|code|recovery_codes|otpauth_uri|uri|password|(current|new)_password|link)$/

export type IssuedSecrets = {
  /** Complete secrets, and the last part of each. */
  readonly texts: ReadonlySet<string>
  /** Collects the texts of a value that are secrets by their field names; texts too short for a secret are ignored. */
  collect(value: unknown): void
  /** Contents of pending mails, by id: the holder of a link has access to the account. */
  collectMails(): Promise<number>
}

export function createIssuedSecrets({ database, config }: TestApi): IssuedSecrets {
  const texts = new Set<string>()

  function collect(value: unknown, name = ''): void {
    if (typeof value === 'string' && secretNames.test(name) && !isReason(name, value))
      return collectText(value)
    if (Array.isArray(value)) for (const one of value) collect(one, name)
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) collect(inner, key)
  }

  /** Codes of reasons are words; codes of a second factor are not. */
  const isReason = (name: string, value: string): boolean => name === 'code' && /^[a-z_]+$/.test(value)

  /** The first parts of a token are ids, which the audit log may contain. */
  function collectText(text: string): void {
    const bare = text.replace(/^(Bearer|Token|Basic) /, '').replace(/^https?:.*#/, '')
    const last = bare.split(/[._]/).at(-1)!
    for (const one of [bare, last]) if (one.length >= 6) texts.add(one)
  }

  async function collectMails(): Promise<number> {
    const rows = await database.postgres.owner
      .selectFrom('mails')
      .select(['template', 'content_sealed'])
      .execute()
    for (const { template, content_sealed } of rows) {
      if (content_sealed)
        collect(JSON.parse(open(config.secret, 'mail', content_sealed, template).toString()))
    }
    return rows.length
  }

  return { texts, collect: (value) => collect(value), collectMails }
}
