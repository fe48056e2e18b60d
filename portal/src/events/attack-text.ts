// The figures of an attack as text. Pure.
import type { RelatedEventDetail } from '@pharos/contract/events/event'

type Event = Pick<RelatedEventDetail, 'end' | 'affected_bps' | 'affected_pps' | 'parsed_data'>

const currentMs = 5 * 60_000

/** Returns the last measured rate of an ongoing attack, if there are several measurements and the last one is recent. */
export function rateNow({ end, parsed_data: { timeline = [] } }: Event, now: number): number | undefined {
  const measured = timeline.filter(({ bps }) => bps !== undefined)
  const last = measured.at(-1)
  if (end !== null || last === undefined || measured.length < 2 || now - Date.parse(last.at) > currentMs)
    return undefined
  return last.bps
}

/** Returns the size of a packet, if both peaks have the same time; otherwise undefined. */
export function bytesPerPacket({
  affected_bps: bps,
  affected_pps: pps,
  parsed_data: { peaks },
}: Event): number | undefined {
  if (bps <= 0 || pps <= 0) return undefined
  if (peaks?.bps && peaks.pps && peaks.bps.at !== peaks.pps.at) return undefined
  return Math.round(bps / 8 / pps)
}

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' })
const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' }

/** Returns `2nd`, `18th` or `103rd`. */
export const nth = (rank: number): string =>
  `${rank.toLocaleString('en')}${endings[ordinals.select(rank)] ?? 'th'}`
