// Rates passwords with zxcvbn: the number of guesses of an attacker who knows common passwords, English words and names,
// keyboards, dates and the account's words. Blocks for up to 0.2 s: the server calls it in a thread.
import { createRequire } from 'node:module'
import type { OptionsGraphEntry, ZxcvbnFactory } from '@zxcvbn-ts/core'
import { publishedPassword } from './demo.ts'

/** The kind of the password's guessable parts. */
export type Weakness = 'personal' | 'pattern' | 'common'

export type StrengthJob = {
  /** Normalised, of at most 128 code points. */
  readonly password: string
  /** Words that an attacker of this account tries first. */
  readonly personalWords: readonly string[]
}

/** zxcvbn's highest class, "very unguessable": 10^10 guesses, more than three years at 100 per second. */
const scoreMin = 4

/**
 * The time is superlinear in the length and in the number of look-alike characters. Measured on 128 characters without
 * the two bounds: 1.8 s; with them: 0.2 s. A password is at least as strong as its first 64 characters.
 */
const ratedCharactersMax = 64
const substitutionsMax = 10

let loaded: ZxcvbnFactory | undefined

/** Returns why the password is easy to guess; undefined if it is not. */
export function findWeakness({ password, personalWords }: StrengthJob): Weakness | undefined {
  const rated = [...password].slice(0, ratedCharactersMax).join('')
  loaded ??= load()
  const { score, sequence } = loaded.check(rated, [...personalWords])
  if (score >= scoreMin) return undefined
  const dictionaries = sequence.flatMap(({ dictionaryName }) => dictionaryName ?? [])
  if (dictionaries.includes('userInputs')) return 'personal'
  return dictionaries.length > 0 ? 'common' : 'pattern'
}

/** Loads the dictionaries at the first use, which takes 0.5 s. */
function load(): ZxcvbnFactory {
  const require = createRequire(import.meta.url)
  const { ZxcvbnFactory } = require('@zxcvbn-ts/core') as typeof import('@zxcvbn-ts/core')
  const common = require('@zxcvbn-ts/language-common') as typeof import('@zxcvbn-ts/language-common')
  const english = require('@zxcvbn-ts/language-en') as typeof import('@zxcvbn-ts/language-en')
  return new ZxcvbnFactory({
    graphs: { ...common.adjacencyGraphs, jcuken: jcukenOf(common.adjacencyGraphs.qwerty) },
    dictionary: { ...common.dictionary, ...english.dictionary, published: [publishedPassword] },
    l33tMaxSubstitutions: substitutionsMax,
  })
}

const latinKeys = [..."qwertyuiop[]asdfghjkl;'zxcvbnm,."]
const cyrillicKeys = [...'йцукенгшщзхъфывапролджэячсмитьбю']

/** The Russian keyboard, which zxcvbn-ts does not include: QWERTY with other letters on the same keys. */
function jcukenOf(qwerty: OptionsGraphEntry): OptionsGraphEntry {
  const letters = new Map(latinKeys.map((key, at) => [key, cyrillicKeys[at]!]))
  const withShift = (key: string | undefined) => {
    const letter = letters.get(key ?? '')
    return letter === undefined ? null : letter + letter.toUpperCase()
  }
  return Object.fromEntries(
    [...letters].flatMap(([key, letter]) => {
      const neighbours = qwerty[key]!.map((one) => withShift(one?.[0]))
      return [letter, letter.toUpperCase()].map((one) => [one, neighbours])
    }),
  )
}
