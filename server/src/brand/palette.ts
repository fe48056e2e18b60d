// The colors that follow from the provider's accent, for light and dark: every text that uses them has WCAG's contrast of
// 4.5 to 1 on its ground, whatever the accent is. Pure.

type Rgb = readonly [number, number, number]

/** The accents of one color scheme, by the names of the portal's tokens. */
export type Accents = {
  readonly accent: string
  readonly 'accent-fill': string
  readonly 'accent-hover': string
  readonly 'accent-weak': string
  readonly 'on-accent': string
}

const textContrast = 4.5
/** WCAG 1.4.11, of a control on its ground. */
const controlContrast = 3

const white: Rgb = [255, 255, 255]
const black: Rgb = [0, 0, 0]
const ink: Rgb = [16, 24, 32]

/** The grounds of the portal's tokens: bg, surface, sunken. */
const schemes = {
  light: { grounds: ['#f6f7f9', '#ffffff', '#f0f2f5'].map(parseColor), towards: black, weak: 0.1 },
  dark: { grounds: ['#0b1016', '#121920', '#182028'].map(parseColor), towards: white, weak: 0.18 },
} as const
export type Scheme = keyof typeof schemes

/** `color`: `#rrggbb`. */
export function accentsOf(color: string, scheme: Scheme): Accents {
  const { grounds, towards, weak } = schemes[scheme]
  const accent = parseColor(color)
  const fill = movedUntil(accent, towards, (one) =>
    grounds.every((ground) => contrast(one, ground) >= controlContrast),
  )
  const onFill = contrast(white, fill) >= textContrast ? white : ink
  // Away from the text on it, so that the contrast of the text only grows.
  const readable = movedUntil(
    fill,
    onFill === white ? black : white,
    (one) => contrast(onFill, one) >= textContrast,
  )
  const weakGround = mixed(grounds[1]!, accent, weak)
  const text = movedUntil(accent, towards, (one) =>
    [...grounds, weakGround].every((ground) => contrast(one, ground) >= textContrast),
  )
  return {
    accent: formatColor(text),
    'accent-fill': formatColor(readable),
    'accent-hover': formatColor(mixed(readable, onFill === white ? black : white, 0.14)),
    'accent-weak': formatColor(weakGround),
    'on-accent': formatColor(onFill),
  }
}

/** Returns the contrast of two colors by WCAG 2.2, 1 to 21. */
export function contrastOf(a: string, b: string): number {
  return contrast(parseColor(a), parseColor(b))
}

/** Returns the style sheet that replaces the accent of the portal; empty without one. */
export function brandStyle(accent: string | null): string {
  if (accent === null) return ''
  const rule = (selector: string, scheme: Scheme) =>
    `${selector} {\n${Object.entries(accentsOf(accent, scheme))
      .map(([name, value]) => `  --${name}: ${value};\n`)
      .join('')}}\n`
  return rule(':root', 'light') + rule(":root[data-mantine-color-scheme='dark']", 'dark')
}

const steps = 50

/** Moves the color in small steps; the target itself always meets the condition on contrast. */
function movedUntil(color: Rgb, target: Rgb, holds: (color: Rgb) => boolean): Rgb {
  for (let step = 0; step < steps; step++) {
    const moved = mixed(color, target, step / steps)
    if (holds(moved)) return moved
  }
  return target
}

const mixed = (from: Rgb, to: Rgb, share: number): Rgb => {
  const [r, g, b] = from.map((value, at) => Math.round(value + (to[at]! - value) * share))
  return [r!, g!, b!]
}

function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)]
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)
}

function luminance(color: Rgb): number {
  const [r, g, b] = color.map((value) => {
    const part = value / 255
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

function parseColor(text: string): Rgb {
  const value = Number.parseInt(text.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

const formatColor = (color: Rgb): string =>
  `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`
