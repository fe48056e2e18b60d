// Proof by the aut-num object: the only entry of an ASN that only its holder can change, in the database of the
// regional registry that assigned it. In any other registry anyone may register an aut-num object of any ASN, so it
// proves no control there.
import type { ProofStep } from '@pharos/contract/inventory/asn'
import { regionalRegistries } from '../../registry/objects/regional-registries.ts'
import { parseRpslObject, rpslValues, RpslError, type RpslObject } from '../../registry/objects/rpsl.ts'
import { autNumOf } from '../../registry/objects/rpsl-objects.ts'
import { holdsToken } from './asn-token.ts'
import {
  proofResult,
  notConfigured,
  step,
  type AsnProofSources,
  type ProofSubject,
  type ProofResult,
} from './asn-proof-result.ts'

/** 0: always queried again, because the user waits for a change just made. */
const maxAgeSeconds = 0

export async function checkAutNum(
  { irr }: Pick<AsnProofSources, 'irr'>,
  subject: ProofSubject,
  signal: AbortSignal,
): Promise<ProofResult> {
  if (!irr) return notConfigured
  const answer = await irr.autNum(subject.asn, { maxAgeSeconds, signal })
  if (answer.state === 'unavailable') return proofResult('unavailable', 'registry_unavailable')
  if (answer.state === 'missing') return proofResult('missing', 'aut_num_missing', { asn: subject.asn })
  return judgeAutNum(answer.text, subject)
}

/** Pure: evaluates the text of an aut-num object. */
export function judgeAutNum(text: string, subject: ProofSubject): ProofResult {
  const object = readAutNum(text)
  if (!object || object.asn !== subject.asn) return proofResult('error', 'aut_num_unreadable')
  const { source, holder } = object
  const evidence = { source, holder, rir: regionalRegistries[source] ?? null }
  const attrs = { asn: subject.asn, source }
  if (!object.lines.some((line) => holdsToken(line, subject.tokens)))
    return proofResult('missing', 'aut_num_token_missing', attrs, evidence)
  if (evidence.rir === null) return proofResult('missing', 'aut_num_open_registry', attrs, evidence)
  return proofResult('valid', 'aut_num_found', attrs, evidence)
}

type AutNum = {
  readonly asn: number
  readonly source: string
  readonly holder: string | null
  /** The attributes in which a token counts. */
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

/** The name is short and always set; the description is for people, if the registry has one. */
function holderOf(object: RpslObject): string | null {
  const [name, description] = [rpslValues(object, 'as-name')[0], rpslValues(object, 'descr')[0]]
  const holder = [name, description?.split('\n')[0]]
    .filter((one) => one && !one.startsWith('pharos-'))
    .join(', ')
  return holder === '' ? null : holder.slice(0, 200)
}

export function instructAutNum({ asn, tokens: [token] }: ProofSubject): ProofStep[] {
  const text =
    `Add this line to your aut-num object AS${asn} in the database of the regional registry that assigned it ` +
    '(RIPE, APNIC, AFRINIC, ARIN or LACNIC):'
  return [step(text, [`remarks:        ${token}`])]
}
