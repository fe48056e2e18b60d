// Validates the settings of an API token: every rule that depends on the request alone, with every error and its location.
// Pure.
import type { ProblemError } from '@pharos/contract/problem'
import { tokenYearsMax } from '@pharos/contract/token'
import { PrefixError } from '../net/prefix-error.ts'
import { parsePrefixOrAddress, type Prefix } from '../net/prefix.ts'
import { errorAt, failWith, prefixErrorAt } from '../runtime/error.ts'
import { parseTime } from '../text/time.ts'

/** The body of createToken, as parsed by the contract. */
export type NewTokenBody = {
  readonly name: string
  readonly scopes: readonly string[]
  readonly is_admin?: boolean
  readonly allowed_subnets?: readonly string[]
  readonly expires?: string | null
  readonly max_unused_days?: number | null
}

/** The body of updateToken. */
export type TokenChange = Pick<Partial<NewTokenBody>, 'name' | 'allowed_subnets' | 'expires'>

type ParsedToken = { readonly name: string; readonly networks: Prefix[]; readonly expires: Date | null }

/** Throws `invalid` with all errors. */
export function parseNewToken(body: NewTokenBody, now: Date) {
  const { networks = [], expires = null } = parseTokenChange(body, now)
  const { name, scopes, is_admin: isAdmin = false, max_unused_days: maxUnusedDays = null } = body
  return { name, scopes, isAdmin, maxUnusedDays, networks, expires }
}

/** Returns the given fields. Throws `invalid` with all errors. */
export function parseTokenChange(
  { name, allowed_subnets, expires }: TokenChange,
  now: Date,
): Partial<ParsedToken> {
  const errors: ProblemError[] = []
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(allowed_subnets && { networks: parseNetworks(allowed_subnets, errors) }),
    ...(expires === undefined ? {} : { expires: parseExpires(expires, now, errors) }),
  }
  if (errors.length > 0) throw failWith('invalid', errors)
  return change
}

/** Returns the networks without duplicates, in the given order. */
function parseNetworks(texts: readonly string[], errors: ProblemError[]): Prefix[] {
  const networks = texts.flatMap((text, at) => {
    try {
      return [parsePrefixOrAddress(text)]
    } catch (error) {
      if (!(error instanceof PrefixError)) throw error
      errors.push(prefixErrorAt(['body', 'allowed_subnets', at], error))
      return []
    }
  })
  return [...new Set(networks)]
}

function parseExpires(text: string | null, now: Date, errors: ProblemError[]): Date | null {
  if (text === null) return null
  const expires = parseTime(text)!
  const latest = new Date(now)
  latest.setUTCFullYear(now.getUTCFullYear() + tokenYearsMax)
  const loc = ['body', 'expires']
  if (expires <= now) errors.push(errorAt(loc, 'past'))
  if (expires > latest) errors.push(errorAt(loc, 'tokenEnd', { latest: latest.toISOString() }))
  return expires
}
