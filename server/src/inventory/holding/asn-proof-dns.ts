// Evidence by DNS: the token in the reverse zone of a prefix that the ASN may originate. Registries delegate reverse
// zones to the holder of the prefix, who can name any ASN in a ROA, so this never verifies the ASN; staff may take it
// into account. A prefix that is delegated as several zones needs the token in each: one of them may belong to a
// customer.
import type { ProofStep } from '@pharos/contract/inventory/asn'
import { comparePrefixes, lengthOf, type Prefix } from '../../net/prefix.ts'
import { reverseZones } from '../../net/reverse-zone.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import type { TxtResolver } from '../../team/txt-resolver.ts'
import {
  proofResult,
  instructEvidence,
  notConfigured,
  step,
  type AsnProofSources,
  type ProofSubject,
  type ProofResult,
} from './asn-proof-result.ts'

/** Prefixes with more zones are not offered: too many records to create. */
const zonesMax = 16
/** Names queried in one check. */
const namesMax = 64
/** Concurrent queries. */
const atOnce = 8

/** A prefix, and the names that must all have the token. */
export type DnsPlace = { readonly prefix: Prefix; readonly names: readonly string[] }

/** Returns the places for the token, fewest names first; limited in number. Pure. */
export function dnsPlaces(prefixes: readonly Prefix[]): readonly DnsPlace[] {
  const places = [...new Set(prefixes)]
    .map((prefix) => ({ prefix, names: reverseZones(prefix).map((zone) => `_pharos-asn.${zone}`) }))
    .filter(({ names, prefix }) => names.length > 0 && names.length <= zonesMax && lengthOf(prefix) > 0)
    .toSorted((a, b) => a.names.length - b.names.length || comparePrefixes(a.prefix, b.prefix))
  let left = namesMax
  return places.filter(({ names }) => (left -= names.length) >= 0)
}

export async function checkDns(
  { txt, rpki }: AsnProofSources,
  subject: ProofSubject,
  signal: AbortSignal,
): Promise<ProofResult> {
  if (!txt || !rpki) return notConfigured
  const prefixes = await rpki.originsOf(subject.asn)
  if (!prefixes) return proofResult('unavailable', 'origins_unavailable')
  const places = dnsPlaces(prefixes)
  if (places.length === 0) return proofResult('missing', 'origins_missing', { asn: subject.asn })
  const answers = await queryNames(
    txt,
    [...new Set(places.flatMap(({ names }) => names))],
    subject.tokens,
    signal,
  )
  return judgeDns(places, answers)
}

export type NameAnswer = 'token' | 'other' | 'none' | 'unreachable' | 'failed'

/** Pure. If a name could not be queried, the result is unknown instead of missing. */
function judgeDns(places: readonly DnsPlace[], answers: ReadonlyMap<string, NameAnswer>): ProofResult {
  const found = places.find(({ names }) => names.every((name) => answers.get(name) === 'token'))
  if (found) return proofResult('valid', 'txt_found', { names: found.names }, { ...found })
  const names = (answer: NameAnswer) => [...answers].filter(([, is]) => is === answer).map(([name]) => name)
  const unreachable = names('unreachable')
  if (unreachable.length > 0)
    return proofResult('unavailable', 'txt_unavailable', {}, { unanswered: unreachable.slice(0, 8) })
  const failed = names('failed')
  if (failed.length > 0)
    return proofResult('error', 'txt_failed', { name: failed[0] }, { failed: failed.slice(0, 8) })
  const [half, other] = [names('token'), names('other')]
  if (half.length > 0) return proofResult('missing', 'txt_partial', { name: half[0] }, { token_at: half })
  if (other.length > 0)
    return proofResult('missing', 'txt_other', { name: other[0] }, { other_text_at: other.slice(0, 8) })
  return proofResult('missing', 'txt_missing')
}

/** Queries the TXT records of all names, a few at a time. Never rejects because of a name server. */
export async function queryNames(
  txt: TxtResolver,
  names: readonly string[],
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, NameAnswer>> {
  const answers = new Map<string, NameAnswer>()
  const waiting = names.values()
  const ask = async (): Promise<void> => {
    for (const name of waiting) answers.set(name, await askOne(txt, name, tokens, signal))
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
  return answers
}

async function askOne(
  txt: TxtResolver,
  name: string,
  tokens: readonly string[],
  signal: AbortSignal,
): Promise<NameAnswer> {
  try {
    const texts = await txt.resolveTxt(name, signal)
    if (texts.some((text) => tokens.includes(text.trim()))) return 'token'
    return texts.length > 0 ? 'other' : 'none'
  } catch (error) {
    if (!(error instanceof DriverError)) throw error
    return error.kind === 'unreachable' ? 'unreachable' : 'failed'
  }
}

/** `places` undefined: the prefixes that the ASN originates are currently unknown. */
export function instructDns(subject: ProofSubject, places: readonly DnsPlace[] | undefined): ProofStep[] {
  return [instructEvidence(subject.asn), ...recordSteps(subject, places)]
}

function recordSteps(
  { asn, tokens: [token] }: ProofSubject,
  places: readonly DnsPlace[] | undefined,
): ProofStep[] {
  const record = (name: string) => `${name}. 3600 IN TXT "${token}"`
  const general =
    `Create a TXT record with the token at _pharos-asn.<zone>, where <zone> is the reverse zone of a prefix that AS${asn} ` +
    'originates according to ROAs or route objects'
  if (!places) return [step(`${general}:`, [record('_pharos-asn.<zone>')])]
  if (places.length === 0) return [step(`${general}. There is no such prefix yet.`)]
  const single = places.filter(({ names }) => names.length === 1)
  const several = places.filter(({ names }) => names.length > 1)
  const singleRecords = single.map(({ names }) => record(names[0]!))
  return [
    ...(single.length > 0 ? [step('Create one of these records:', singleRecords, 'one')] : []),
    ...several.map(({ prefix, names }) =>
      step(
        `${single.length > 0 ? 'Or create all' : 'Create all'} of these records, for the zones of ${prefix}:`,
        names.map(record),
      ),
    ),
  ]
}
