// Reads values that several kinds have: prefixes, AS numbers, times of passed checks.
import { reservedAsn } from '../../net/asn.ts'
import { parseAddress } from '../../net/address.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { isDefaultRoute, parsePrefix, type Prefix } from '../../net/prefix.ts'
import { parseTime } from '../../text/time.ts'
import type { CheckContext } from '../engine/kind.ts'
import type { Path } from '../engine/problem.ts'

/** True: passed; the existing time of the pass stays, else now. A string is that time, in ISO 8601. */
export type PassedAt = boolean | string

/** Returns the canonical prefix; undefined, with a problem, if no team can have it. */
export function parsePrefixField(context: CheckContext, path: Path, text: string): Prefix | undefined {
  try {
    const prefix = parsePrefix(text)
    if (!isDefaultRoute(prefix)) return prefix
    context.problem(path, `${text} is the default route, which no team can hold`)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    const suggestion = error.canonical === undefined ? '' : `; use ${error.canonical}`
    context.problem(path, `${text}: ${error.message}${suggestion}`)
  }
  return undefined
}

/** Returns the canonical address; undefined, with a problem, if the text is invalid. */
export function parseAddressField(
  context: CheckContext,
  path: Path,
  text: string | undefined,
): string | undefined {
  if (text === undefined) return undefined
  try {
    return parseAddress(text)
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    context.problem(path, error.message)
    return undefined
  }
}

/** The value with its time in ISO 8601 and UTC. */
export function readPassed(
  context: CheckContext,
  path: Path,
  value: PassedAt | undefined,
): PassedAt | undefined {
  if (typeof value !== 'string') return value
  const time = parseTime(value)?.toISOString()
  if (time === undefined) context.problem(path, `${value} is not a time; write it as 2026-01-31T12:00:00Z`)
  return time
}

export function noticeReserved(context: CheckContext, path: Path, asn: number): void {
  const reserved = reservedAsn(asn)
  if (reserved && !reserved.documentation) context.notice(path, `AS${asn} is reserved: ${reserved.name}`)
}

export function toPassed(time: Date | null): string | false {
  return time === null ? false : time.toISOString()
}

export function toTime(passed: PassedAt, now: Date): Date | null {
  if (typeof passed === 'string') return new Date(passed)
  return passed ? now : null
}
