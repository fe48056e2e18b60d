// Evidence by DNS: the token in the reverse zone of a prefix that the ASN may originate. Registries delegate reverse zones to
// the holder of the prefix, who can name any ASN in a ROA, so this never verifies the ASN; staff may take it into account.
// A prefix that is delegated as several zones needs the token in each: one of them may belong to a customer.
import type { ProofStep } from '@pharos/contract/inventory'
import { comparePrefixes, lengthOf, type Prefix } from '../net/prefix.ts'
import { reverseZones } from '../net/reverse-zone.ts'
import { DriverError } from '../runtime/driver-error.ts'
import type { TxtResolver } from '../team/txt-resolver.ts'
import {
  evidenceOnly,
  instructEvidence,
  missing,
  notSetUp,
  step,
  unavailable,
  valid,
  type Claim,
  type Finding,
} from './asn-finding.ts'
import type { AsnProofSources } from './asn-proof-sources.ts'

/** A prefix of more zones is not offered: nobody would create so many records. */
const zonesMax = 16
/** Names asked for in one check. */
const namesMax = 64
/** Questions at once. */
const atOnce = 8

/** A prefix, and the names that all have to have the token. */
export type DnsPlace = { readonly prefix: Prefix; readonly names: readonly string[] }

/** Pure: where the token may stand, what needs the fewest names first; bounded. */
export function dnsPlaces(prefixes: readonly Prefix[]): readonly DnsPlace[] {
  const places = [...new Set(prefixes)]
    .map((prefix) => ({ prefix, names: reverseZones(prefix).map((zone) => `_pharos-asn.${zone}`) }))
    .filter(({ names, prefix }) => names.length > 0 && names.length <= zonesMax && lengthOf(prefix) > 0)
    .toSorted((a, b) => a.names.length - b.names.length || comparePrefixes(a.prefix, b.prefix))
  let left = namesMax
  return places.filter(({ names }) => (left -= names.length) >= 0)
}

export async function checkDns(
  { txt, origins }: AsnProofSources,
  claim: Claim,
  signal: AbortSignal,
): Promise<Finding> {
  if (!txt || !origins) return notSetUp
  const answer = await origins.originsOf(claim.asn, signal)
  if (answer.state === 'unavailable')
    return unavailable('What the ASN originates is not known now: ROAs and route objects could not be read.')
  const places = dnsPlaces(answer.prefixes)
  if (places.length === 0)
    return missing(`No ROA and no route object names a prefix of AS${claim.asn} that has reverse zones.`)
  const answers = await lookUpNames(
    txt,
    [...new Set(places.flatMap(({ names }) => names))],
    claim.tokens,
    signal,
  )
  return judgeDns(places, answers)
}

export type NameAnswer = 'token' | 'other' | 'none' | 'unreachable' | 'failed'

/** Pure. What could not be asked makes "not there" unknown. */
export function judgeDns(places: readonly DnsPlace[], answers: ReadonlyMap<string, NameAnswer>): Finding {
  const found = places.find(({ names }) => names.every((name) => answers.get(name) === 'token'))
  if (found) return valid(`The token stands at ${found.names.join(' and ')}. ${evidenceOnly}`, { ...found })
  const names = (answer: NameAnswer) => [...answers].filter(([, is]) => is === answer).map(([name]) => name)
  const unreachable = names('unreachable')
  if (unreachable.length > 0)
    return unavailable('The name servers did not answer.', { unanswered: unreachable.slice(0, 8) })
  const failed = names('failed')
  if (failed.length > 0)
    return {
      state: 'error',
      note: `The name servers answered with an error at ${failed[0]}.`,
      evidence: { failed: failed.slice(0, 8) },
    }
  const [half, other] = [names('token'), names('other')]
  if (half.length > 0)
    return missing(`The token stands at ${half[0]}, and not at all zones of its prefix.`, { token_at: half })
  if (other.length > 0)
    return missing(`There is another text at ${other[0]}.`, { other_text_at: other.slice(0, 8) })
  return missing('No such record exists.')
}

/** Asks for the TXT records of all names, a few at a time. Never rejects because of a name server. */
export async function lookUpNames(
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

/** `places` undefined: the prefixes that the ASN originates are not known now. */
export function instructDns(claim: Claim, places: readonly DnsPlace[] | undefined): ProofStep[] {
  return [instructEvidence(claim.asn), ...recordSteps(claim, places)]
}

function recordSteps({ asn, tokens: [token] }: Claim, places: readonly DnsPlace[] | undefined): ProofStep[] {
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
