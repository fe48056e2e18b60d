// Times to live in text: seconds, or numbers with units as BIND writes them (`1h30m`).

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** Returns the seconds of `3600`, `1h` or `1h30m`, in any case; undefined if it is neither or more than 4294967295. */
export function findTtl(text: string): number | undefined {
  const { length } = text
  const first = text.charCodeAt(0)
  if (length === 0 || length > 40 || !(first >= 48 && first <= 57)) return undefined
  let sum = 0
  let value = -1
  for (let i = 0; i < length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit >= 0 && digit <= 9) {
      value = (value < 0 ? 0 : value * 10) + digit
      continue
    }
    const unit = seconds[text[i]!.toLowerCase()]
    if (unit === undefined || value < 0) return undefined
    sum += value * unit
    value = -1
  }
  // A number without a unit is the whole text: in `1h30` a unit was forgotten.
  if (value >= 0) {
    if (sum > 0) return undefined
    sum = value
  }
  return sum <= 0xffff_ffff ? sum : undefined
}
