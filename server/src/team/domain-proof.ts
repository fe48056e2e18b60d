// The record that verifies a domain, and one DNS check of it. It does not store the result and does not decide on the
// verification.
import { createHmac } from 'node:crypto'
import type { DomainCheckResult } from '@pharos/contract/team/domain'
import { unlessAborted } from '../runtime/abort.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { deriveKeys, type KeyRing } from '../runtime/secrets.ts'
import { recordLabel, type TeamDomainName } from './domain-name.ts'
import type { TxtResolver } from './txt-resolver.ts'

const prefix = 'pharos-domain-verification='
/** 144 bits: 24 characters of base64url without padding. */
const macBytes = 18
const defaultTimeoutMs = 5_000

export const recordName = (domain: TeamDomainName): string => `${recordLabel}.${domain}`

/** Newest first: the team gets the first one, all are accepted. */
export type RecordValues = readonly [string, ...string[]]

/**
 * Derives the values of the record from the key ring, the team and the domain. They are not secret: they are invalid
 * for another team or another domain.
 */
export function recordValues(ring: KeyRing, teamId: number, domain: TeamDomainName): RecordValues {
  const values = deriveKeys(ring, 'domain-proof').map(({ key }) => {
    const mac = createHmac('sha256', key).update(`${teamId}|${domain}`).digest()
    return prefix + mac.subarray(0, macBytes).toString('base64url')
  })
  return values as unknown as RecordValues
}

/** Result of one check; whether another team has the domain is checked later. */
export type RecordState = Exclude<DomainCheckResult, 'claimed'>

export type DomainProofDeps = {
  readonly ring: KeyRing
  readonly txt: TxtResolver
  /** Timeout of one check; default 5 s. */
  readonly timeoutMs?: number
  /** Called with an error that is not an answer of a name server: an internal error, for the log. */
  readonly onCheckError: (error: unknown) => void
}

/**
 * Queries the record within the timeout, whether or not the resolver respects its signal; rejects only if `signal` aborts. An
 * error answer of a name server does not mean that the record is missing.
 */
export async function queryRecord(
  { ring, txt, timeoutMs = defaultTimeoutMs, onCheckError }: DomainProofDeps,
  { teamId, domain }: { readonly teamId: number; readonly domain: TeamDomainName },
  signal: AbortSignal,
): Promise<RecordState> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const ended = AbortSignal.any([signal, timeout])
  try {
    const texts = await unlessAborted(ended, txt.resolveTxt(recordName(domain), ended))
    return judge(texts, recordValues(ring, teamId, domain))
  } catch (error) {
    signal.throwIfAborted()
    if (!timeout.aborted && !(error instanceof DriverError)) onCheckError(error)
    return 'unavailable'
  }
}

/** Other texts may exist beside the token: several programs use the name. */
function judge(texts: readonly string[], values: RecordValues): RecordState {
  if (texts.some((text) => values.includes(text.trim()))) return 'valid'
  return texts.length > 0 ? 'mismatch' : 'missing'
}
