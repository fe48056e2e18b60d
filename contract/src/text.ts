// Text that users write and others read: names, descriptions, reasons. Control characters, invisible characters and characters that
// change the direction of text (UTS 39, UTS 55) are rejected: with them a name can imitate another one, or reverse the text
// after it.
import { Type, type TStringOptions } from 'typebox'

/** Text of one line, such as a name. */
export const Line = (options: TStringOptions) => Type.String({ ...options, format: 'line' })

/** Text that may have several lines, such as a description. */
export const Paragraphs = (options: TStringOptions) => Type.String({ ...options, format: 'paragraphs' })

export const textFormats = ['line', 'paragraphs'] as const
export type TextFormat = (typeof textFormats)[number]

/** A paragraph for the introduction of the API's description. */
export const textFormatsDescription =
  'Strings of the format `line` or `paragraphs` are text that others read. They hold no control characters (`paragraphs` may ' +
  'have tabs and line breaks), no invisible characters and none that change the direction of text, such as U+202E. The joiners ' +
  'U+200C and U+200D are accepted inside scripts that need them and in emoji, not after Latin letters or digits. Anything ' +
  'else is 422 with the type `hidden_character` and the code point in `ctx`.'

export type HiddenCharacter = {
  /** Such as `U+202E`. */
  readonly codePoint: string
  /** Its kind, for use in a sentence. */
  readonly name: string
  /** Position in characters, from 1. */
  readonly position: number
}

// Format characters, line separators, letters without a glyph, and unpaired surrogates. Joiners are rejected only if no
// character before them can be joined: at the beginning and after Latin letters, digits and punctuation.
const hidden =
  /[\p{Zl}\p{Zp}\p{Cs}\u115F\u1160\u3164\uFFA0]|\u034F|\u17B4|\u17B5|(?![\u200C\u200D])\p{Cf}|(?<![\u0250-\u200B\u200E-\u{10FFFF}])[\u200C\u200D]/u
const hiddenInLine = new RegExp(`\\p{Cc}|${hidden.source}`, 'u')
const hiddenInParagraphs = new RegExp(`(?![\\t\\n\\r])\\p{Cc}|${hidden.source}`, 'u')

/** Returns the first character that the format does not allow. */
export function findHiddenCharacter(format: TextFormat, text: string): HiddenCharacter | undefined {
  const match = (format === 'line' ? hiddenInLine : hiddenInParagraphs).exec(text)
  if (!match) return undefined
  const code = match[0].codePointAt(0)!
  return {
    codePoint: `U+${code.toString(16).toUpperCase().padStart(4, '0')}`,
    name: names[code] ?? kindOf(match[0]),
    position: Array.from(text.slice(0, match.index)).length + 1,
  }
}

/** Returns the error message, to follow the name of a field. */
export const describeHiddenCharacter = ({ codePoint, name, position }: HiddenCharacter): string =>
  `contains ${codePoint} (${name}) at character ${position}; remove it`

function kindOf(character: string): string {
  if (/\p{Cc}/u.test(character)) return 'a control character'
  return /\p{Cs}/u.test(character) ? 'half of a surrogate pair' : 'an invisible character'
}

/** Names of control characters in Unicode, in lower case. */
const names: Readonly<Record<number, string>> = {
  0x09: 'tab',
  0x0a: 'line feed',
  0x0d: 'carriage return',
  0xad: 'soft hyphen',
  0x061c: 'arabic letter mark',
  0x180e: 'mongolian vowel separator',
  0x200b: 'zero width space',
  0x200c: 'zero width non-joiner',
  0x200d: 'zero width joiner',
  0x200e: 'left-to-right mark',
  0x200f: 'right-to-left mark',
  0x2028: 'line separator',
  0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding',
  0x202b: 'right-to-left embedding',
  0x202c: 'pop directional formatting',
  0x202d: 'left-to-right override',
  0x202e: 'right-to-left override',
  0x2060: 'word joiner',
  0x2066: 'left-to-right isolate',
  0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate',
  0x2069: 'pop directional isolate',
  0x3164: 'hangul filler',
  0xfeff: 'zero width no-break space',
}
