// Rates with the units that people type: a number in Gbps instead of a long one in bits per second. Pure.

export type RateUnit = { readonly label: string; readonly factor: number }

export const rateUnits = {
  bps: [
    { label: 'Mbps', factor: 1e6 },
    { label: 'Gbps', factor: 1e9 },
    { label: 'Tbps', factor: 1e12 },
  ],
  pps: [
    { label: 'kpps', factor: 1e3 },
    { label: 'Mpps', factor: 1e6 },
    { label: 'Gpps', factor: 1e9 },
  ],
} as const satisfies Record<string, readonly RateUnit[]>

export type Rate = keyof typeof rateUnits

/** Returns the largest unit in which the rate is at least 1; the default unit for an empty field. */
export function unitFor(rate: Rate, value: number | null): RateUnit {
  const units: readonly RateUnit[] = rateUnits[rate]
  if (value === null || value === 0) return units[1]!
  return units.findLast(({ factor }) => value >= factor) ?? units[0]!
}

/** Returns the rate of a typed number, whole; null for an empty field. */
export function rateOf(typed: string | number, { factor }: RateUnit): number | null {
  const text = String(typed).trim()
  return text === '' || Number.isNaN(Number(text)) ? null : Math.round(Number(text) * factor)
}
