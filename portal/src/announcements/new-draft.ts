// What is typed of a new announcement: as the request takes it, and as it stands in the address. Pure.
import type { createAnnouncementsRoute, NewAnnouncement } from '@pharos/contract/byoip'
import type { Problem } from '@pharos/contract/problem'
import type { BodyOf } from '@pharos/contract/route'

export type Draft = {
  /** One prefix, or several with anything of white space, comma and semicolon between. */
  readonly cidr: string
  readonly asn: string | number
  readonly description: string
  readonly regions: string[]
  readonly asSet: string
  readonly delegate: boolean
  readonly signatory: string
}

type Search = Readonly<Record<string, unknown>>

export const asnOf = ({ asn }: Draft): number => Number(String(asn).replace(/^AS/i, ''))

/** As they were typed, in their order. */
export const prefixesOf = ({ cidr }: Draft): string[] => cidr.split(/[\s,;]+/).filter((one) => one !== '')

/** The list only where there are several: the places of mistakes are then those of the list. */
export function bodyOf(draft: Draft): BodyOf<typeof createAnnouncementsRoute> {
  const prefixes = prefixesOf(draft)
  if (prefixes.length < 2) return announcementOf(draft, prefixes[0] ?? '')
  return { announcements: prefixes.map((prefix) => announcementOf(draft, prefix)) }
}

export type PrefixMistake = {
  readonly index: number
  readonly prefix: string
  readonly msg: string
  /** What was probably meant: the server says it of host bits. */
  readonly canonical: string | undefined
}

/** What the server found wrong of each prefix; see `bodyOf`. */
export function prefixMistakes(draft: Draft, errors: NonNullable<Problem['errors']>): PrefixMistake[] {
  const prefixes = prefixesOf(draft)
  return errors
    .filter(({ loc }) => loc[0] === 'body' && loc.at(-1) === 'cidr')
    .map(({ loc, msg, ctx }) => {
      const index = loc[1] === 'announcements' ? Number(loc[2]) : 0
      const canonical = ctx?.['canonical']
      return {
        index,
        prefix: prefixes[index] ?? '',
        msg,
        canonical: typeof canonical === 'string' ? canonical : undefined,
      }
    })
}

/** The text with these mended, one prefix on each line. */
export function correctPrefixes(draft: Draft, corrections: readonly PrefixMistake[]): string {
  const canonicals = new Map(corrections.map(({ index, canonical }) => [index, canonical]))
  return prefixesOf(draft)
    .map((prefix, index) => canonicals.get(index) ?? prefix)
    .join('\n')
}

function announcementOf(draft: Draft, cidr: string): NewAnnouncement {
  const { description, regions, asSet, delegate, signatory } = draft
  return {
    cidr,
    origin_asn: asnOf(draft),
    ...(description ? { description } : {}),
    ...(regions.length > 0 ? { regions } : {}),
    ...(asSet.trim() ? { as_set: asSet.trim() } : {}),
    ...(delegate ? { delegate_loa: true } : {}),
    ...(signatory.trim() ? { loa_signatory: signatory.trim() } : {}),
  }
}

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

/** Whatever the address holds: what is not understood is left out. */
export function draftOf(search: Search): Draft {
  return {
    cidr: text(search['cidr']),
    asn: text(search['asn']),
    description: text(search['description']),
    regions: Array.isArray(search['regions'])
      ? search['regions'].filter((one) => typeof one === 'string')
      : [],
    asSet: text(search['as_set']),
    delegate: search['delegate'] === true,
    signatory: text(search['signatory']),
  }
}

/** Without what is empty. */
export function searchOf(draft: Draft): Search {
  const { cidr, description, regions, asSet, delegate, signatory } = draft
  const all = {
    cidr: cidr.trim(),
    asn: asnOf(draft),
    description,
    regions,
    as_set: asSet,
    delegate,
    signatory,
  }
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : Boolean(value))),
  )
}
