// What is typed of a new announcement: as the request takes it, and as it stands in the address. Pure.
import type { NewAnnouncement } from '@pharos/contract/byoip'

export type Draft = {
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

export function bodyOf(draft: Draft): NewAnnouncement {
  const { cidr, description, regions, asSet, delegate, signatory } = draft
  return {
    cidr: cidr.trim(),
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
