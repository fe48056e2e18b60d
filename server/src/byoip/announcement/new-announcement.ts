// The rules for new announcements that need only the request; returns every error with its location. Pure; rules that need
// the database are in create-announcements.ts.
import type { NewAnnouncement } from '@pharos/contract/byoip/announcement'
import type { ProblemError } from '@pharos/contract/problem'
import { parseAsn, reservedAsn, type Asn } from '../../net/asn.ts'
import { bogonOf } from '../../net/bogon.ts'
import { PrefixError } from '../../net/prefix-error.ts'
import { covers, overlaps, parsePrefix, prefixParts, type Prefix } from '../../net/prefix.ts'
import { errorAt, prefixErrorAt } from '../../runtime/error.ts'
import { unknownRegion } from './region.ts'
import { longestAccepted, shortestAccepted } from '../validation/check-rules.ts'

/** A validated new announcement of the request. */
export type Wanted = {
  /** Its location in the request: `["body","announcements",3]`. */
  readonly loc: readonly (string | number)[]
  readonly prefix: Prefix
  readonly originAsn: Asn
  readonly regions: readonly string[]
  readonly asSet: string | null
  /** Saved unchanged, in the columns of the same names. */
  readonly details: Omit<NewAnnouncement, 'cidr' | 'origin_asn' | 'regions'>
}

export type NewRules = {
  /** Accepts resources reserved for documentation and benchmarking (RFC 5737, 3849, 5398, 2544): demo and lab. */
  readonly allowDocumentation: boolean
  /** Slugs of the regions open to the team. */
  readonly regions: readonly string[]
}

export type ReadNew = { readonly wanted: readonly Wanted[]; readonly errors: readonly ProblemError[] }

/** Returns the valid announcements, and all errors; `bare` if the request is a single one without a list. */
export function readNewAnnouncements(
  items: readonly NewAnnouncement[],
  bare: boolean,
  rules: NewRules,
): ReadNew {
  const errors: ProblemError[] = []
  const wanted = items.flatMap((item, at) => {
    const loc = bare ? ['body'] : ['body', 'announcements', at]
    const { one, itemErrors } = readOne(item, loc, rules)
    errors.push(...itemErrors)
    return one ? [one] : []
  })
  return { wanted, errors: [...errors, ...overlapsWithin(wanted)] }
}

function readOne(item: NewAnnouncement, loc: (string | number)[], rules: NewRules) {
  const { cidr, origin_asn: originAsn, regions = [], ...details } = item
  const prefix = readPrefix(cidr, [...loc, 'cidr'], rules)
  const itemErrors = [
    ...('error' in prefix ? [prefix.error] : []),
    ...asnErrors(originAsn, [...loc, 'origin_asn'], rules),
    ...regionErrors(regions, loc, rules),
  ]
  if ('error' in prefix || itemErrors.length > 0) return { itemErrors }
  const one: Wanted = {
    loc,
    prefix: prefix.prefix,
    originAsn: parseAsn(originAsn),
    regions: [...new Set(regions)],
    asSet: details.as_set ?? null,
    details,
  }
  return { one, itemErrors }
}

function readPrefix(
  text: string,
  loc: ProblemError['loc'],
  { allowDocumentation }: NewRules,
): { readonly prefix: Prefix } | { readonly error: ProblemError } {
  try {
    const prefix = parsePrefix(text)
    const error = sizeError(prefix, loc) ?? bogonError(prefix, loc, allowDocumentation)
    return error ? { error } : { prefix }
  } catch (error) {
    if (!(error instanceof PrefixError)) throw error
    return { error: prefixErrorAt(loc, error) }
  }
}

function sizeError(prefix: Prefix, loc: ProblemError['loc']): ProblemError | undefined {
  const { family, length } = prefixParts(prefix)
  const [shortest, longest] = [shortestAccepted[family], longestAccepted[family]]
  if (length >= shortest && length <= longest) return undefined
  return errorAt(loc, length > longest ? 'prefixTooLong' : 'prefixTooShort', { shortest, longest })
}

/** RFC 2544: not routed, as documentation space, but larger. */
const benchmarking = parsePrefix('198.18.0.0/15')

function bogonError(prefix: Prefix, loc: ProblemError['loc'], allowed: boolean): ProblemError | undefined {
  const bogon = bogonOf(prefix)
  if (!bogon || (allowed && (bogon.documentation || covers(benchmarking, prefix)))) return undefined
  return errorAt(loc, 'bogon', { block: bogon.block, name: bogon.name })
}

function asnErrors(asn: number, loc: ProblemError['loc'], { allowDocumentation }: NewRules): ProblemError[] {
  const reserved = reservedAsn(asn)
  if (!reserved || (reserved.documentation && allowDocumentation)) return []
  return [errorAt(loc, 'asnReserved', { name: reserved.name })]
}

function regionErrors(
  slugs: readonly string[],
  loc: readonly (string | number)[],
  { regions }: NewRules,
): ProblemError[] {
  return slugs.flatMap((slug, at) =>
    regions.includes(slug) ? [] : [errorAt([...loc, 'regions', at], 'region', unknownRegion(slug, regions))],
  )
}

function overlapsWithin(wanted: readonly Wanted[]): ProblemError[] {
  return wanted.flatMap((one, at) => {
    const other = wanted.slice(0, at).find((before) => overlaps(before.prefix, one.prefix))
    return other ? [overlapError(one, other.prefix, 'of the same request')] : []
  })
}

/** Also used for announcements in the database, with their `id`. */
export function overlapError(
  { loc, prefix }: Pick<Wanted, 'loc' | 'prefix'>,
  other: Prefix,
  whose: string,
  id?: number,
): ProblemError {
  const msg =
    prefix === other ? `is an announcement ${whose} already` : `overlaps ${other}, an announcement ${whose}`
  const todo = id === undefined ? '' : `; import or PATCH /v3/ipam/announcements/${id}`
  const ctx = { overlaps: other, ...(id === undefined ? {} : { id }) }
  return { loc: [...loc, 'cidr'], msg: `${msg}${todo}`, type: 'overlap', ctx }
}
