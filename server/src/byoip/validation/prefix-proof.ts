// Proofs without paper that a team controls a prefix: a token in its reverse zone, or in the remarks of its registration. Each is
// queried and stored separately; the operator's policy decides whether it is enough (authorization.ts).
import type { TxtResolver } from '../../team/txt-resolver.ts'
import { queryNames, type NameAnswer } from '../../inventory/holding/asn-proof-dns.ts'
import { familyOf } from '../../net/address.ts'
import {
  firstOf,
  hostPrefix,
  lastHostOf,
  lastOf,
  networkOf,
  prefixParts,
  type Prefix,
} from '../../net/prefix.ts'
import { reverseZones } from '../../net/reverse-zone.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { IpNetwork, RdapSource } from '../../registry/rdap-source.ts'
import { shortestAccepted } from './check-rules.ts'
import type { PrefixTokens } from './prefix-token.ts'
import { explain, type CheckResult } from './validation.ts'

/** Limit of reverse zones of a prefix for this proof: creating more records is impractical. */
const zonesMax = 16

/** Returns the names that must all have the token: one per zone, since a zone may be delegated to a customer. */
export function proofNames(prefix: Prefix): readonly string[] {
  const zones = reverseZones(prefix)
  return zones.length > zonesMax ? [] : zones.map((zone) => `_pharos.${zone}`)
}

/** Returns the records to create, one per line; null if the prefix has too many zones. */
export function txtFix(prefix: Prefix, [token]: PrefixTokens): string | null {
  const records = proofNames(prefix).map((name) => `${name}. 3600 IN TXT "${token}"`)
  return records.length > 0 ? records.join('\n') : null
}

/** Queries the token at each name; never rejects because of a name server. */
export async function checkTxt(
  txt: TxtResolver,
  prefix: Prefix,
  tokens: PrefixTokens,
  now: Date,
  signal: AbortSignal,
): Promise<CheckResult> {
  const names = proofNames(prefix)
  const answers = await queryNames(txt, names, tokens, signal)
  return evaluateTxt(prefix, names, answers, tokens, now)
}

/** Pure. The failure of a name server is not evidence, so only an answer makes the record missing. */
export function evaluateTxt(
  prefix: Prefix,
  names: readonly string[],
  answers: ReadonlyMap<string, NameAnswer>,
  tokens: PrefixTokens,
  now: Date,
): CheckResult {
  const found = (...wanted: NameAnswer[]) => names.filter((name) => wanted.includes(answers.get(name)!))
  const fix = txtFix(prefix, tokens)
  if (names.length === 0) {
    return {
      state: 'missing',
      ...explain('txt_zones_too_many', { prefix }),
      evidence: {},
      fix: null,
      checked: now,
    }
  }
  const [withToken, absent] = [found('token'), found('none', 'other')]
  const evidence = { token_at: withToken }
  if (withToken.length === names.length) {
    return { state: 'valid', ...explain('txt_found', { names }), evidence, fix: null, checked: now }
  }
  if (absent.length > 0) {
    const [other] = found('other')
    const reason = other ? explain('txt_other', { name: other }) : explain('txt_missing', { name: absent[0] })
    return { state: 'missing', ...reason, evidence, fix, checked: now }
  }
  const name = found('unreachable', 'failed')[0]
  return { state: 'unavailable', ...explain('txt_unavailable', { name }), evidence, fix, checked: null }
}

/** Returns the line to add to the registration. */
export const rdapFix = ([token]: PrefixTokens): string => `remarks: ${token}`

/** Queries the registrations of the prefix for the token; never rejects because of a registry. */
export async function checkRdap(
  rdap: RdapSource,
  prefix: Prefix,
  tokens: PrefixTokens,
  now: Date,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    const own = await rdap.findIpNetwork(prefix, signal)
    const ends: (IpNetwork | undefined)[] = []
    if (own) for (const end of endsOf(prefix)) ends.push(await rdap.findIpNetwork(end, signal))
    return evaluateRdap(prefix, own, ends, tokens, now)
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    return {
      state: 'unavailable',
      ...explain('rdap_unavailable'),
      evidence: {},
      fix: rdapFix(tokens),
      checked: null,
    }
  }
}

/** Returns the first and the last address: a part with a separate registration usually begins or ends there. */
const endsOf = (prefix: Prefix): readonly Prefix[] => [hostPrefix(networkOf(prefix)), lastHostOf(prefix)]

/**
 * Pure. The registration must cover the prefix and must not be the block of a whole registry; a registration of a part of the
 * prefix, found at its ends, may belong to another holder and must contain the token too.
 */
export function evaluateRdap(
  prefix: Prefix,
  own: IpNetwork | undefined,
  ends: readonly (IpNetwork | undefined)[],
  tokens: PrefixTokens,
  now: Date,
): CheckResult {
  const fix = rdapFix(tokens)
  const rest = { evidence: { networks: own ? [shown(own)] : [] }, fix, checked: now }
  if (!own) return { state: 'missing', ...explain('rdap_unregistered', { prefix }), ...rest }
  if (!containsAll(own, prefix)) {
    return { state: 'invalid', ...explain('rdap_other_network', { network: rangeOf(own), prefix }), ...rest }
  }
  if (sizeOf(own) > largestHolder[prefixParts(prefix).family]) {
    return { state: 'missing', ...explain('rdap_registry_block', { network: rangeOf(own), prefix }), ...rest }
  }
  const parts = ends.filter((end) => end !== undefined && sizeOf(end) < sizeOf(own)) as IpNetwork[]
  const networks = [own, ...parts]
  const evidence = { networks: networks.map(shown) }
  const without = networks.find(({ remarks }) => !remarks.some((line) => tokens.includes(line.trim())))
  if (without) {
    const reason = explain('rdap_token_missing', { network: rangeOf(without) })
    return { state: 'missing', ...reason, ...rest, evidence }
  }
  const reason = explain('rdap_found', { networks: networks.map(rangeOf) })
  return { state: 'valid', ...reason, evidence, fix: null, checked: now }
}

/** Addresses of the largest block of a network, as in `shortestAccepted`; larger blocks belong to registries. */
const largestHolder = {
  4: 2n ** BigInt(32 - shortestAccepted[4]),
  6: 2n ** BigInt(128 - shortestAccepted[6]),
}

const sizeOf = ({ first, last }: IpNetwork): bigint =>
  lastOf(hostPrefix(last)) - firstOf(hostPrefix(first)) + 1n

function containsAll({ first, last }: IpNetwork, prefix: Prefix): boolean {
  if (familyOf(first) !== familyOf(prefix)) return false
  return firstOf(hostPrefix(first)) <= firstOf(prefix) && lastOf(hostPrefix(last)) >= lastOf(prefix)
}

const rangeOf = ({ handle, first, last }: IpNetwork): string =>
  `${handle ? `${handle}, ` : ''}${first} - ${last}`
const shown = ({ handle, first, last }: IpNetwork) => ({ handle, first, last })
