// $GENERATE of BIND: one record for each number of a range, with the number written into owner and data.
import { EntryFailure } from './problem.ts'

/** Records of one $GENERATE. */
const generatedMax = 65_536
const numberMax = 2_147_483_647

export type GenerateRange = { readonly start: number; readonly stop: number; readonly step: number }

/** Parses `start-stop` or `start-stop/step`. Throws EntryFailure. */
export function parseRange(text: string): GenerateRange {
  const match = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text)
  const [start, stop, step] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3] ?? 1)]
  if (!match || start > stop || stop > numberMax || step < 1)
    throw new EntryFailure(
      'generate',
      'The range of $GENERATE is malformed. Use start-stop or start-stop/step.',
    )
  if (Math.floor((stop - start) / step) + 1 > generatedMax)
    throw new EntryFailure('generate', `$GENERATE makes at most ${generatedMax} records. Split the range.`)
  return { start, stop, step }
}

/** A text around numbers: strings and how the number is written between them. */
export type GenerateTemplate = readonly (string | Modifier)[]
type Modifier = { readonly offset: number; readonly width: number; readonly base: string }

/** Parses `host-$` and `${offset,width,base}`. `$$` is a dollar sign, and an escape stays as it is. Throws EntryFailure. */
export function parseTemplate(text: string): GenerateTemplate {
  const parts: (string | Modifier)[] = []
  for (const [part, plain, modifier] of text.matchAll(
    /((?:[^$\\]|\\[^]|\$\$|\\$)+)|\$(?:\{([^}]*)\}|(?!\{))|\$/g,
  )) {
    if (plain !== undefined) parts.push(plain.replaceAll('$$', '$'))
    else if (part === '$') {
      parts.push(parseModifier('0'))
    } else parts.push(parseModifier(modifier ?? ''))
  }
  return parts
}

function parseModifier(text: string): Modifier {
  const match = /^(-?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(text)
  const width = Number(match?.[2] ?? 0)
  if (!match || width > 255)
    throw new EntryFailure(
      'generate',
      'A modifier of $GENERATE is ${offset,width,base} with the base d, o, x, X, n or N.',
    )
  return { offset: Number(match[1]), width, base: match[3] ?? 'd' }
}

/** Returns the text with the number written into it. Throws EntryFailure if it becomes negative. */
export function expandTemplate(template: GenerateTemplate, number: number): string {
  return template
    .map((part) => (typeof part === 'string' ? part : formatNumber(number + part.offset, part)))
    .join('')
}

function formatNumber(value: number, { width, base }: Modifier): string {
  if (value < 0 || value > numberMax)
    throw new EntryFailure('generate', 'A number of $GENERATE is negative or too large. Check its offset.')
  if (base === 'n' || base === 'N') return formatNibbles(value, width, base === 'N')
  const text = value.toString(base === 'o' ? 8 : base === 'd' ? 10 : 16).padStart(width, '0')
  return base === 'X' ? text.toUpperCase() : text
}

/** Writes hexadecimal digits, the last one first, with dots between them. The width counts the dots. */
function formatNibbles(value: number, width: number, isUpper: boolean): string {
  const digits = value.toString(16).padStart(Math.ceil(width / 2), '0')
  const text = [...digits].reverse().join('.')
  return isUpper ? text.toUpperCase() : text
}
