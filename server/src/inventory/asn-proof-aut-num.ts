// Proof by the aut-num object: the one entry of an ASN that only its holder can change, in the database of the regional
// registry that assigned it. In any other registry everybody may have an aut-num object of any ASN, so there it proves
// nothing.
import type { ProofStep } from '@pharos/contract/inventory'
import { parseRpslObject, rpslValues, RpslError, type RpslObject } from '../net/rpsl.ts'
import { autNumOf } from '../net/rpsl-objects.ts'
import { holdsToken } from './asn-token.ts'
import { missing, notSetUp, step, unavailable, valid, type Claim, type Finding } from './asn-finding.ts'
import type { AutNumSource } from './asn-proof-sources.ts'

/** The `source:` of the objects of the five regional registries, and their names on the API. */
const regionalRegistries: Readonly<Record<string, string>> = {
  AFRINIC: 'afrinic',
  APNIC: 'apnic',
  ARIN: 'arin',
  LACNIC: 'lacnic',
  RIPE: 'ripe',
}

/** Older answers are asked for again: somebody waits for what he has just changed. */
const maxAgeSeconds = 0

export async function checkAutNum(
  source: AutNumSource | undefined,
  claim: Claim,
  signal: AbortSignal,
): Promise<Finding> {
  if (!source) return notSetUp
  const answer = await source.autNum(claim.asn, { maxAgeSeconds, signal })
  if (answer.state === 'unavailable') return unavailable('The routing registry did not answer.')
  if (answer.state === 'missing')
    return missing(`The routing registries have no aut-num object of AS${claim.asn}.`)
  return judgeAutNum(answer.text, claim)
}

/** Pure: what the text of an aut-num object proves. */
export function judgeAutNum(text: string, claim: Claim): Finding {
  const object = readAutNum(text)
  if (!object || object.asn !== claim.asn)
    return { state: 'error', note: 'The aut-num object could not be read.', evidence: {} }
  const { source, holder } = object
  const evidence = { source, holder, rir: regionalRegistries[source] ?? null }
  const at = `the aut-num object of AS${claim.asn} in ${source}`
  if (!object.lines.some((line) => holdsToken(line, claim.tokens)))
    return missing(`The token does not stand in ${at}.`, evidence)
  if (evidence.rir === null)
    return missing(
      `The token stands in ${at}, where anybody may register: it has to stand in that of a regional registry.`,
      evidence,
    )
  return valid(`The token stands in ${at}.`, evidence)
}

type AutNum = {
  readonly asn: number
  readonly source: string
  readonly holder: string | null
  /** Where a token counts. */
  readonly lines: readonly string[]
}

function readAutNum(text: string): AutNum | undefined {
  try {
    const object = parseRpslObject(text)
    if (!object) return undefined
    const { asn, source } = autNumOf(object)
    const lines = [...rpslValues(object, 'remarks'), ...rpslValues(object, 'descr')]
    return { asn, source, holder: holderOf(object), lines }
  } catch (error) {
    if (error instanceof RpslError) return undefined
    throw error
  }
}

/** The name is short and always there; the description is for people, where the registry still has one. */
function holderOf(object: RpslObject): string | null {
  const [name, description] = [rpslValues(object, 'as-name')[0], rpslValues(object, 'descr')[0]]
  const holder = [name, description?.split('\n')[0]]
    .filter((one) => one && !one.startsWith('pharos-'))
    .join(', ')
  return holder === '' ? null : holder.slice(0, 200)
}

export function instructAutNum({ asn, tokens: [token] }: Claim): ProofStep[] {
  const text =
    `Add this line to your aut-num object AS${asn} in the database of the regional registry that assigned it ` +
    '(RIPE, APNIC, AFRINIC, ARIN or LACNIC):'
  return [step(text, [`remarks:        ${token}`])]
}
