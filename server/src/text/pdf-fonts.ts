// The fonts of PDFs: Noto Sans, which npm packages contain in slices of the Unicode range. Only the slices
// that a text needs are loaded; the PDF embeds only the glyphs that are used.
import { readFileSync } from 'node:fs'
import { GlobalFonts } from '@napi-rs/canvas'

type Slice = { readonly file: string; readonly ranges: readonly (readonly [first: number, last: number])[] }

/** Font for Latin text: it precedes the fonts of other scripts, whose Latin letters are narrower. */
const common = ['noto-sans', 'noto-sans-arabic', 'noto-sans-hebrew', 'noto-sans-thai']

const slices = new Map<string, readonly Slice[]>()

/**
 * Returns the fonts for the text, as the families of a canvas font. Han characters have Japanese or Korean glyphs if the text
 * contains letters of these languages, otherwise Chinese ones.
 */
export function loadFonts(text: string): string {
  const points = codePointsOf(text)
  const needed = fontsFor(text).flatMap((font) =>
    slicesOf(font).filter(({ ranges }) => [...points].some((point) => isIn(ranges, point))),
  )
  return needed.map(({ file }) => register(file)).join(', ')
}

/** Returns whether the fonts have every character of the text. */
export function canDraw(text: string): boolean {
  const all = fontsFor(text).flatMap(slicesOf)
  return [...codePointsOf(text)].every((point) => all.some(({ ranges }) => isIn(ranges, point)))
}

function fontsFor(text: string): string[] {
  const han = ['noto-sans-jp', 'noto-sans-sc', 'noto-sans-kr']
  if (/\p{scx=Hangul}/u.test(text)) han.unshift('noto-sans-kr')
  else if (!/[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text)) han.unshift('noto-sans-sc')
  return [...common, ...new Set(han)]
}

const codePointsOf = (text: string): Set<number> =>
  new Set([...text].map((character) => character.codePointAt(0)!))

const isIn = (ranges: Slice['ranges'], point: number): boolean =>
  ranges.some(([first, last]) => point >= first && point <= last)

/** `unicode.json` of a package: the name of each slice with its ranges in CSS syntax, such as `U+0-ff,U+131`. */
function slicesOf(font: string): readonly Slice[] {
  const known = slices.get(font)
  if (known) return known
  const index = new URL(import.meta.resolve(`@fontsource-variable/${font}/unicode.json`))
  const found = Object.entries(JSON.parse(readFileSync(index, 'utf8')) as Record<string, string>).map(
    ([name, ranges]) => ({
      file: new URL(`files/${font}-${name.replace(/[[\]]/g, '')}-wght-normal.woff2`, index).href,
      ranges: ranges.split(',').map((range) => {
        const [first = '', last = first] = range.replace('U+', '').split('-')
        return [parseInt(first, 16), parseInt(last, 16)] as const
      }),
    }),
  )
  slices.set(font, found)
  return found
}

/** Registers each slice once: registered fonts are kept for the whole process, whichever thread registered them. */
function register(file: string): string {
  const family = /([^/]+)-wght-normal\.woff2$/.exec(file)![1]!
  if (!GlobalFonts.has(family) && !GlobalFonts.register(readFileSync(new URL(file)), family))
    throw new Error(`${file} is not a font`)
  return family
}
