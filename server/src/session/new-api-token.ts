// Validates the settings of an API token: every rule that depends on the request alone, with every error and its location.
// Pure.
import type { ProblemError } from '@pharos/contract/problem'
import { resourcesOfScope, type Resources } from '@pharos/contract/resource-limit'
import type { Scope } from '@pharos/contract/scope'
import { tokenDaysByDefault } from '@pharos/contract/team/token'
import { collect } from '../runtime/collect.ts'
import { parseCredentialExpiry, parseCredentialNetworks } from '../limit/credential-settings.ts'
import { covers, parsePrefix, type Prefix } from '../net/prefix.ts'
import { errorAt, failWith, invalid } from '../runtime/error.ts'

/** The body of createToken, as parsed by the contract. */
export type NewTokenBody = {
  readonly name: string
  readonly scopes: readonly string[]
  readonly is_admin?: boolean
  readonly resources?: Resources
  readonly service_account_id?: number
  readonly allowed_subnets?: readonly string[]
  readonly expires?: string | null
  readonly max_unused_days?: number | null
}

/** The body of updateToken. */
export type TokenChange = Pick<Partial<NewTokenBody>, 'name' | 'allowed_subnets' | 'expires'>

type ParsedToken = { readonly name: string; readonly networks: Prefix[]; readonly expires: Date | null }

/** Throws `invalid` with all errors. `expires` is undefined if the request does not say. */
export function parseNewToken(body: NewTokenBody, now: Date) {
  const { networks = [], expires } = parseTokenChange(body, now)
  const { name, scopes, is_admin: isAdmin = false, max_unused_days: maxUnusedDays = null } = body
  const { service_account_id: serviceAccountId = null, resources = null } = body
  if (isAdmin && serviceAccountId !== null) throw invalid(['body', 'is_admin'], 'adminOfAccount')
  if (resources) requireOpenScopes(scopes as readonly Scope[], resources)
  const settings = {
    name,
    scopes,
    isAdmin,
    maxUnusedDays,
    networks,
    serviceAccountId,
    isLimited: resources !== null,
  }
  return { settings, expires, resources }
}

/** Throws `invalid` for scopes without any effect: a token must not seem to allow more than it does. */
export function requireOpenScopes(scopes: readonly Scope[], resources: Resources): void {
  const isEmpty = Object.values(resources).every((some) => some.length === 0)
  if (isEmpty) throw invalid(['body', 'resources'], 'resourcesMissing')
  const errors = scopes.flatMap((scope, at) => {
    const needed = resourcesOfScope[scope]
    if (needed.length === 0) return [errorAt(['body', 'scopes', at], 'scopeClosed', { scope })]
    if (needed.some((kind) => (resources[kind]?.length ?? 0) > 0)) return []
    return [errorAt(['body', 'scopes', at], 'scopeWithoutResource', { scope, allowed: needed })]
  })
  if (errors.length > 0) throw failWith('invalid', errors)
}

const dayMs = 86_400_000

/**
 * Returns when a new token expires. `daysMax` is the limit of the team. Throws `invalid` for a time that it does not
 * allow.
 */
export function expiryOf(given: Date | null | undefined, daysMax: number | null, now: Date): Date | null {
  const after = (days: number): Date => new Date(now.getTime() + days * dayMs)
  if (given === undefined) return after(Math.min(tokenDaysByDefault, daysMax ?? Infinity))
  if (daysMax === null || (given !== null && given <= after(daysMax))) return given
  throw invalid(['body', 'expires'], 'tokenDays', { days: daysMax, latest: after(daysMax).toISOString() })
}

type Narrowed = { readonly networks: readonly string[]; readonly expires: Date | null }

/** Throws `invalid` for a change after which the token could be used longer, or from more networks. */
export function requireNarrower(before: Narrowed, { networks, expires }: Partial<ParsedToken>): void {
  const errors: ProblemError[] = []
  const isLonger =
    expires !== undefined && before.expires !== null && (expires === null || expires > before.expires)
  if (isLonger) errors.push(errorAt(['body', 'expires'], 'widens'))
  if (networks && before.networks.length > 0) {
    const known = before.networks.map((one) => parsePrefix(one))
    const isWithin = (one: Prefix): boolean => known.some((network) => covers(network, one))
    if (networks.length === 0 || !networks.every(isWithin))
      errors.push(errorAt(['body', 'allowed_subnets'], 'widens'))
  }
  if (errors.length > 0) throw failWith('invalid', errors)
}

/** Returns the given fields. Throws `invalid` with all errors. */
export function parseTokenChange(
  { name, allowed_subnets, expires }: TokenChange,
  now: Date,
): Partial<ParsedToken> {
  const errors: ProblemError[] = []
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(allowed_subnets && {
      networks: collect(errors, () => parseCredentialNetworks(allowed_subnets)) ?? [],
    }),
    ...(expires === undefined
      ? {}
      : { expires: collect(errors, () => parseCredentialExpiry(expires, now)) ?? null }),
  }
  if (errors.length > 0) throw failWith('invalid', errors)
  return change
}
