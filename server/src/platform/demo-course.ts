// How hard an attack of the demo hits while it lasts: it swells within a minute or two, wavers, and falls away where it
// is filtered. Invented, with the shapes that detectors draw. Pure.
import type { Attack } from './demo-attacks.ts'
import type { Dice } from './demo-dice.ts'

export type Moment = {
  readonly at: Date
  /** Of the attack's greatest rate; 1 at one moment of it at least. */
  readonly share: number
  /** The packets of that moment are this much smaller or larger than they usually are. */
  readonly packetSize: number
  readonly isFiltered: boolean
}

const secondMs = 1_000
/** A detector speaks once it is sure, and then as often as it measures. */
const firstAfterS = 45
const stepMinS = 30
const momentsMax = 60
/** Of an attack that is not over: longer than any of the demo has lasted when it is made. */
const horizonS = 3_600
/** What is left behind the filter. */
const leftBehind = 0.08

export function courseOf({ start, end }: Attack, dice: Dice): readonly Moment[] {
  const lengthS = end === null ? horizonS : (end.getTime() - start.getTime()) / secondMs
  const stepS = Math.max(stepMinS, lengthS / momentsMax)
  const swellS = dice.between(40, 150)
  const waves = { heightOf: dice.isLucky(0.4) ? 0.35 : 0.1, lengthS: dice.between(150, 500) }
  const filteredFromS = dice.isLucky(0.45) ? dice.between(100, 260) : Infinity
  const moments: Moment[] = []
  for (let atS = firstAfterS; atS < lengthS; atS += stepS) {
    const isFiltered = atS > filteredFromS
    const swollen = Math.min(1, atS / swellS)
    const wave = 1 - waves.heightOf * (0.5 + 0.5 * Math.sin((2 * Math.PI * atS) / waves.lengthS))
    const share = swollen * wave * dice.around(1, 0.06) * (isFiltered ? leftBehind : 1)
    moments.push({
      at: new Date(start.getTime() + atS * secondMs),
      share,
      packetSize: dice.around(1, 0.07),
      isFiltered,
    })
  }
  const greatest = Math.max(...moments.map(({ share }) => share))
  return moments.map((moment) => ({ ...moment, share: moment.share / greatest }))
}
