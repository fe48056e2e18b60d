// The browser and the system of a user agent, as people name their devices. Pure.
type Pattern = readonly [pattern: RegExp, name: string]

/** The first match counts: most browsers also name browsers they are compatible with. */
const browsers: readonly Pattern[] = [
  [/\bEdg(?:A|iOS)?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+).*Safari\//, 'Safari'],
  [/\bcurl\/(\d+)/, 'curl'],
]
const systems: readonly Pattern[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

export type Device = { readonly name: string; readonly kind: 'phone' | 'computer' | 'program' }

/** Returns `Firefox 140 on Windows`; a user agent that is not known is its first word. */
export function deviceOf(userAgent: string): Device {
  const found = browsers
    .map(([pattern, name]) => ({ name, version: pattern.exec(userAgent)?.[1] }))
    .find(({ version }) => version !== undefined)
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  const browser = found ? `${found.name} ${found.version}` : userAgent.split(/[\s/]/)[0]
  const kind = system === undefined ? 'program' : /iPhone|iPad|Android/.test(system) ? 'phone' : 'computer'
  return { name: [browser || 'Unknown browser', system].filter(Boolean).join(' on '), kind }
}
