// The shades of a heatmap: a logarithmic scale, so that a group of 1 % of the traffic has a visible rhythm beside the largest. Pure.

import type { ChartValues } from './chart-props.ts'

export type ShadeScale = {
  readonly low: number
  readonly high: number
  /** Number of powers of ten from `low` to `high`. */
  readonly ticks: readonly number[]
}

/** Maximum number of powers of ten: more would leave too few shades for each. */
const decadesMax = 3

/** Returns the scale of all values, whose ends are 1, 2 or 5 times a power of ten; undefined without a value above 0. */
export function shadeScale(lists: readonly ChartValues[]): ShadeScale | undefined {
  let [least, most] = [Infinity, 0]
  for (const values of lists)
    for (const value of values) {
      if (typeof value !== 'number' || value <= 0) continue
      least = Math.min(least, value)
      most = Math.max(most, value)
    }
  if (most === 0) return undefined
  const power = 10 ** Math.floor(Math.log10(most))
  const high = [1, 2, 5, 10].find((factor) => factor * power >= most * (1 - 1e-9))! * power
  const decades = Math.min(decadesMax, Math.max(1, Math.ceil(Math.log10(high / least) - 1e-9)))
  const ticks = Array.from({ length: decades + 1 }, (_, at) =>
    Number((high / 10 ** (decades - at)).toPrecision(12)),
  )
  return { low: ticks[0]!, high, ticks }
}

/** Returns the place of a value above 0 on the scale, 0 to 1. */
export const shadeAt = (value: number, { low, high }: ShadeScale): number =>
  Math.min(1, Math.max(0, Math.log10(value / low) / Math.log10(high / low)))

type ShadeColors = { readonly ground: string; readonly hue: string; readonly text: string }

/** Returns the CSS color of a place: from the ground through the hue towards the text, so that both themes go from weak to strong. */
export function shadeColor(place: number, { ground, hue, text }: ShadeColors): string {
  const turn = 0.65
  return place <= turn
    ? mix(hue, ground, 0.12 + (0.88 * place) / turn)
    : mix(text, hue, (0.72 * (place - turn)) / (1 - turn))
}

const mix = (color: string, other: string, part: number) =>
  `color-mix(in oklab, ${color} ${(part * 100).toFixed(1)}%, ${other})`

/** Returns the gradient of the legend, with the variables of the theme. */
export function shadeGradient(): string {
  const colors = { ground: 'var(--surface)', hue: 'var(--series-1)', text: 'var(--text)' }
  const stops = Array.from({ length: 11 }, (_, at) => shadeColor(at / 10, colors))
  return `linear-gradient(90deg, ${stops.join(', ')})`
}
