// Decodes an "ip network" object (RFC 9083 section 5.4). Pure; every field is validated.
import type { IpNetwork } from '../../registry/rdap-source.ts'
import { familyOf, parseAddress } from '../../net/address.ts'
import { firstOf, hostPrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'

/** Further lines are ignored: a token is not expected in a record of that length. */
const linesMax = 2_000

/** Throws a DriverError (`protocol`) if the text is not such an object. */
export function decodeIpNetwork(text: string): IpNetwork {
  try {
    const object = JSON.parse(text) as Record<string, unknown>
    if (object['objectClassName'] !== 'ip network') throw new TypeError('not an ip network')
    const [first, last] = [addressOf(object['startAddress']), addressOf(object['endAddress'])]
    if (familyOf(first) !== familyOf(last) || firstOf(hostPrefix(first)) > firstOf(hostPrefix(last)))
      throw new TypeError('not a range')
    return { handle: handleOf(object['handle']), first, last, remarks: linesOf(object['remarks']) }
  } catch (error) {
    throw new DriverError('protocol', `not an RDAP answer: ${(error as Error).message}`, { cause: error })
  }
}

/** It is stored, and PostgreSQL rejects a NUL or half of a surrogate pair together with all other results of a run. */
const handleOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .slice(0, 200)
        .toWellFormed()
        .replaceAll(/\p{Cc}/gu, ' ')
    : ''

function addressOf(value: unknown) {
  if (typeof value !== 'string') throw new TypeError('an address is missing')
  return parseAddress(value)
}

/** `remarks: [{ description: [line, ...] }, ...]` (RFC 9083 section 4.3). A line may contain line breaks. */
function linesOf(remarks: unknown): string[] {
  if (!Array.isArray(remarks)) return []
  return remarks
    .flatMap((remark: unknown) => (remark as { description?: unknown } | null)?.description)
    .filter((line) => typeof line === 'string')
    .flatMap((line) => line.split(/\r?\n/))
    .slice(0, linesMax)
}
