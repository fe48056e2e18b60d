// The form for new announcements: its values in the request and in the address. Pure.
import type { createAnnouncementsRoute, NewAnnouncement } from '@pharos/contract/byoip/announcement'
import type { Problem } from '@pharos/contract/problem'
import type { BodyOf } from '@pharos/contract/route'
import { textsOf } from '../ui/use-page-search.ts'
import { givenDetails, readDetails, textOf, type DetailValues } from './details.ts'

/** Named as the request names them. */
export type Draft = {
  /** One prefix, or several separated by white space, commas or semicolons. */
  readonly cidr: string
  readonly origin_asn: string | number
  readonly regions: string[]
} & DetailValues

export type DraftSearch = {
  readonly cidr: string
  readonly asn: number
  readonly regions: readonly string[]
} & DetailValues

export const asnOf = ({ origin_asn }: Draft): number => Number(String(origin_asn).replace(/^AS/i, ''))

/** Returns the prefixes as they were typed, in their order. */
export const prefixesOf = ({ cidr }: Draft): string[] => cidr.split(/[\s,;]+/).filter((one) => one !== '')

/** Returns the request: a list for several prefixes only, whose errors then name the index. */
export function bodyOf(draft: Draft): BodyOf<typeof createAnnouncementsRoute> {
  const prefixes = prefixesOf(draft)
  if (prefixes.length < 2) return announcementOf(draft, prefixes[0] ?? '')
  return { announcements: prefixes.map((prefix) => announcementOf(draft, prefix)) }
}

export type PrefixMistake = {
  readonly index: number
  readonly prefix: string
  readonly msg: string
  /** The corrected prefix; the server sends it if host bits are set. */
  readonly canonical: string | undefined
}

/** Returns the server's errors by prefix; see `bodyOf`. */
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

/** Returns the text with these corrections, one prefix per line. */
export function correctPrefixes(draft: Draft, corrections: readonly PrefixMistake[]): string {
  const canonicals = new Map(corrections.map(({ index, canonical }) => [index, canonical]))
  return prefixesOf(draft)
    .map((prefix, index) => canonicals.get(index) ?? prefix)
    .join('\n')
}

function announcementOf(draft: Draft, cidr: string): NewAnnouncement {
  const { regions } = draft
  return {
    cidr,
    origin_asn: asnOf(draft),
    ...(regions.length > 0 ? { regions } : {}),
    ...givenDetails(draft),
  }
}

/** Parses the draft in the address; values of another type are dropped. */
export function draftOf(search: { readonly [Name in keyof DraftSearch]?: unknown }): Draft {
  return {
    cidr: textOf(search.cidr),
    origin_asn: textOf(search.asn),
    regions: textsOf(search.regions),
    ...readDetails(search),
  }
}

/** Returns the parameters of the address for a draft, without empty values. */
export function searchOf(draft: Draft): Partial<DraftSearch> {
  const { cidr, regions } = draft
  const asn = asnOf(draft)
  return {
    ...(cidr.trim() ? { cidr: cidr.trim() } : {}),
    ...(asn ? { asn } : {}),
    ...(regions.length > 0 ? { regions } : {}),
    ...givenDetails(draft),
  }
}
