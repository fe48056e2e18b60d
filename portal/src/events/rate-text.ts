// The minimum rate of the event list as people type it: `500 Mbps`, `1.5G` or `100 kpps`. Pure.
import { formatRate } from '../ui/rate.ts'

/** Parameters of the API; at most one is set. */
export type MinimumRate = { readonly min_bps?: number | undefined; readonly min_pps?: number | undefined }

const powers: Readonly<Record<string, number>> = { '': 0, k: 1, m: 2, g: 3, t: 4 }
const rate = /^(\d+(?:[.,]\d+)?)\s*([kmgt]?)\s*(bps|bit\/s|b\/s|pps|p\/s)?$/i

/** Returns undefined for an invalid text; an empty object for an empty text. Without a unit, bits per second. */
export function parseRate(text: string): MinimumRate | undefined {
  if (text.trim() === '') return {}
  const [, digits, prefix, unit] = rate.exec(text.trim()) ?? []
  if (digits === undefined) return undefined
  const value = Math.round(Number(digits.replace(',', '.')) * 1000 ** powers[prefix!.toLowerCase()]!)
  if (value > 999_999_999_999_999) return undefined
  return unit?.toLowerCase().startsWith('p') ? { min_pps: value } : { min_bps: value }
}

export function rateText({ min_bps: bps, min_pps: pps }: MinimumRate): string {
  if (bps !== undefined) return formatRate(bps, 'bps')
  return pps === undefined ? '' : formatRate(pps, 'pps')
}

export const isSameRate = (a: MinimumRate | undefined, b: MinimumRate): boolean =>
  a !== undefined && a.min_bps === b.min_bps && a.min_pps === b.min_pps
