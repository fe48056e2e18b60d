// Rates and amounts as network engineers write them: powers of a thousand.
const prefixes = ['', 'k', 'M', 'G', 'T', 'P'] as const

/** Returns `9.5 Gbps` for 9,500,000,000 and `bps`. */
export function formatRate(value: number, unit: 'bps' | 'pps' | 'B' | 'packets'): string {
  const power = value < 1000 ? 0 : Math.min(prefixes.length - 1, Math.floor(Math.log10(value) / 3))
  const scaled = value / 1000 ** power
  const digits = scaled >= 100 || power === 0 ? 0 : scaled >= 10 ? 1 : 2
  const space = unit === 'packets' && power === 0 ? ' ' : ''
  return `${Number(scaled.toFixed(digits))} ${prefixes[power]}${space}${unit}`.replace('  ', ' ')
}
