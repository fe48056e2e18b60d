// Parts of traffic as texts, by octets, packets and connections.
import { words } from './words.ts'

const { effect: texts } = words

/** Returns `97 %`, `0.02 %` or `0 %`: small shares count here. */
export function shareText(share: number | null): string {
  if (share === null) return '–'
  const percent = share * 100
  if (percent === 0) return '0 %'
  if (percent < 0.01) return '<0.01 %'
  if (percent > 99.99 && percent < 100) return '>99.99 %'
  // 100 % only for the whole, never by rounding.
  const digits = percent < 1 || percent > 99.9 ? 2 : percent < 10 || percent > 99 ? 1 : 0
  return `${Number(percent.toFixed(digits))} %`
}

/** The same part by each measure. */
export type Shares = {
  readonly bytes: number | null
  readonly packets: number | null
  readonly flows: number | null
}

/** The largest share: a service of few octets is visible by its packets or connections. Null if all are unknown. */
export function largestShare({ bytes, packets, flows }: Shares): number | null {
  const known = [bytes, packets, flows].filter((share) => share !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** Returns `97 % of octets, 95 % of packets, 60 % of connections`. */
export const sharesText = ({ bytes, packets, flows }: Shares): string =>
  texts.shares(shareText(bytes), shareText(packets), shareText(flows))
