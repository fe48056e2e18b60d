// Which passwords may be chosen. Pure: what is common or known to the account is handed in. It asks for length and for
// something of one's own, and for no kinds of characters (NIST SP 800-63B, 3.1.1).
//
// A password is a text of Unicode, normalised to NFC before it is hashed or compared, so that it is the same whichever
// keyboard composed its accents. Its length is counted in code points.

export const passwordLength = { least: 12, most: 128 }

/** Of what is left when words that others guess are taken out. */
const ownCharactersLeast = 8
const distinctLeast = 5
/** Words that are shorter stand in too many passwords by chance. */
const wordLeast = 3

export type PasswordContext = {
  readonly email: string
  /** Names that everybody here would try, such as the provider's. */
  readonly names: readonly string[]
  /** Whether a text in lower case is a password that many have. */
  readonly isCommon: (text: string) => boolean
}

export type PasswordObjection = {
  /** `length`, `personal`, `pattern` or `common`. */
  readonly type: string
  /** What is wrong and what to do, to be read after the name of the field. */
  readonly msg: string
}

export const normalisePassword = (password: string): string => password.normalize('NFC')

/** Why the password may not be chosen; undefined when it may. */
export function objectionToPassword(
  password: string,
  { email, names, isCommon }: PasswordContext,
): PasswordObjection | undefined {
  const text = normalisePassword(password)
  const lengthObjection = objectionToLength(text)
  if (lengthObjection) return lengthObjection
  const lower = text.toLowerCase()
  if (isPattern(lower))
    return objection('pattern', 'repeats itself or follows the keyboard or the alphabet; take several words')
  if (isDecorated(lower, wordsOf(email)))
    return objection(
      'personal',
      'is little more than your e-mail address; take words that have nothing to do with it',
    )
  if (isDecorated(lower, names.map(squash)))
    return objection('personal', 'is little more than the name of the provider; take other words')
  if (isDecoratedCommon(lower, isCommon))
    return objection(
      'common',
      'is one that many people have, or nearly; take several words that do not belong together',
    )
  return undefined
}

const objection = (type: string, msg: string): PasswordObjection => ({ type, msg })

/** Of the normalised text. */
function objectionToLength(text: string): PasswordObjection | undefined {
  const { length } = [...text]
  const { least, most } = passwordLength
  if (length >= least && length <= most) return undefined
  const advice = length < least ? 'a sentence of several words is easy to keep' : 'take a shorter one'
  return objection('length', `has ${length} characters and needs ${least} to ${most}; ${advice}`)
}

/** The address and what it is made of. */
function wordsOf(email: string): string[] {
  const [local = '', domain = ''] = email.toLowerCase().split('@')
  return [email, local, domain, ...local.split(/[^\p{L}\p{N}]+/u), ...domain.split('.').slice(0, -1)].map(
    squash,
  )
}

/** Letters and digits only, in lower case. */
const squash = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/** Whether the words are in it, and too little else. */
function isDecorated(lower: string, words: readonly string[]): boolean {
  const text = squash(lower)
  return [text, plainLetters(text)].some((spelling) => {
    const rest = without(spelling, words)
    return rest !== spelling && [...rest].length < ownCharactersLeast
  })
}

/** Longer words first: what is inside them goes with them. */
function without(text: string, words: readonly string[]): string {
  return words
    .filter((word) => [...word].length >= wordLeast)
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, word) => rest.replaceAll(word, ''), text)
}

const lookAlikes: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

const plainLetters = (text: string): string =>
  text.replaceAll(/[0134577@$!]/g, (character) => lookAlikes[character] ?? character)

/** Whether a common password is all of it but digits and signs around, or what it repeats. */
function isDecoratedCommon(lower: string, isCommon: (text: string) => boolean): boolean {
  if ([lower, squash(lower), unitOf(lower)].some(isCommon)) return true
  const cores = [coreOf(lower), coreOf(plainLetters(lower)), plainLetters(coreOf(lower))]
  return cores.some((core) => {
    if ([...core].length < wordLeast) return false
    const around = [...lower].length - [...core].length
    return around < ownCharactersLeast && [core, squash(core), unitOf(core)].some(isCommon)
  })
}

/** Without what is no letter at both ends. */
const coreOf = (text: string): string => text.replaceAll(/^\P{L}+|\P{L}+$/gu, '')

/** Whether it is made of few characters, repeats a short text, or is a few runs of neighbours. */
function isPattern(lower: string): boolean {
  const characters = [...lower]
  if (new Set(characters).size < distinctLeast) return true
  if ([...unitOf(lower)].length < ownCharactersLeast) return true
  return countOwn(characters) < distinctLeast
}

/** What the text repeats, the last time perhaps not to the end: `abcabcab` repeats `abc`. The text itself if nothing. */
function unitOf(text: string): string {
  const characters = [...text]
  for (let period = 1; period <= characters.length / 2; period++) {
    if (characters.every((character, at) => character === characters[at % period]))
      return characters.slice(0, period).join('')
  }
  return text
}

const rows = [
  '`1234567890-=',
  'qwertyuiop[]',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'qwertzuiopü',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm',
  'йцукенгшщзхъ',
  'фывапролджэ',
  'ячсмитьбю',
]

/** How many characters do not follow from the one before: a run of three or more neighbours counts as one. */
function countOwn(characters: readonly string[]): number {
  let own = 0
  for (let at = 0; at < characters.length;) {
    const length = runLength(characters, at)
    own += length >= 3 ? 1 : length
    at += length
  }
  return own
}

/** The length of the run of neighbours that begins there, in one direction; at least 1. */
function runLength(characters: readonly string[], from: number): number {
  const steps = stepsBetween(characters[from], characters[from + 1])
  if (steps.size === 0) return 1
  let to = from + 1
  let left = steps
  while (true) {
    left = left.intersection(stepsBetween(characters[to], characters[to + 1]))
    if (left.size === 0) return to - from + 1
    to += 1
  }
}

/** In which order the one follows the other: of code points, or of a row of a keyboard, forwards or backwards, or twice. */
function stepsBetween(one: string | undefined, next: string | undefined): Set<string> {
  if (one === undefined || next === undefined) return new Set()
  const steps = new Set<string>()
  const distance = next.codePointAt(0)! - one.codePointAt(0)!
  if (Math.abs(distance) <= 1) steps.add(`code points ${distance}`)
  for (const [index, row] of rows.entries()) {
    if (row.includes(one + next)) steps.add(`row ${index}`)
    if (row.includes(next + one)) steps.add(`row ${index} backwards`)
  }
  return steps
}
