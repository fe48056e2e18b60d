// Settings that API tokens and TSIG keys have in common: networks and expiry, with every error and its place. Pure.
import type { ProblemError } from '@pharos/contract/problem'
import { tokenYearsMax } from '@pharos/contract/team/token'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { errorAt, failWith, prefixErrorAt } from '../runtime/error.ts'
import { parseTime } from '../text/time.ts'

/** Returns the networks without duplicates, in the given order. Throws `invalid` with all errors. */
export function parseCredentialNetworks(texts: readonly string[]): Prefix[] {
  const errors: ProblemError[] = []
  const networks = texts.flatMap((text, at) => {
    try {
      return [parsePrefixOrAddress(text)]
    } catch (error) {
      if (!(error instanceof PrefixError)) throw error
      errors.push(prefixErrorAt(['body', 'allowed_subnets', at], error))
      return []
    }
  })
  if (errors.length > 0) throw failWith('invalid', errors)
  return [...new Set(networks)]
}

/** Returns the time. Throws `invalid` if it is in the past or too far ahead. */
export function parseCredentialExpiry(text: string | null, now: Date): Date | null {
  if (text === null) return null
  const expires = parseTime(text)!
  const latest = new Date(now)
  latest.setUTCFullYear(now.getUTCFullYear() + tokenYearsMax)
  const loc = ['body', 'expires']
  if (expires <= now) throw failWith('invalid', [errorAt(loc, 'past')])
  if (expires > latest)
    throw failWith('invalid', [errorAt(loc, 'tokenEnd', { latest: latest.toISOString() })])
  return expires
}
