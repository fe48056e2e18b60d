// The countries of ISO 3166-1, from the browser's own names. Pure.

/** Regions and exceptional reservations that have a name but are no country of ISO 3166-1. */
const others = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ'.split(' '))
const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at))

/** Returns the countries by name: the code, and the name in English. */
export function countryOptions(): { value: string; label: string }[] {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !others.has(code) && names.of(code) !== undefined && isCurrent(code))
    .map((value) => ({ value, label: names.of(value)! }))
    .sort((one, other) => one.label.localeCompare(other.label, 'en'))
}

/** A withdrawn code is an alias of its successor: DD of DE. */
const isCurrent = (code: string): boolean => new Intl.Locale(`und-${code}`).region === code
