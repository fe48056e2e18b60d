// Counts phrases that plain technical English avoids, per 1,000 words of comments, texts and documents, and fails
// above the level that was measured in Kysely, Fastify, graphile-worker, Omicron and Akvorado (0.3 each).
//
//   node scripts/check-language.mjs                 the table
//   node scripts/check-language.mjs --list says     every place of one phrase
//   node scripts/check-language.mjs --list all DIR  every place of every phrase in a folder
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const LEVEL_MAX = 0.3

/** Constructions to avoid; each matches once per place. */
const phrases = {
  'clause as subject': /(?:^|[.:;!?]\s+)(?:What|Who|Whoever|Whatever|Whose|Where there)\s(?![^.]*\?)/g,
  says: /\b(?:says?|said|saying)\b/gi,
  told: /\b(?:told|tells?|telling)\b/gi,
  stands: /\b(?:stands?|stood|standing)\b/gi,
  anew: /\banew\b/gi,
  'he, his': /\b(?:he|his|him|himself|she|her|hers|herself)\b/g,
  brings: /\b(?:brings?|brought|bringing)\b/gi,
  mend: /\b(?:mends?|mended|mending)\b/gi,
  ours: /\bof (?:ours|yours|theirs|hers)\b/gi,
  'switch on, off': /\bswitch(?:es|ed|ing)?(?: \w+)? (?:on|off)\b/gi,
  'carry out': /\b(?:carry|carries|carried|carrying)(?: \w+)? out\b/gi,
  'somebody, nobody': /\b(?:somebody|nobody|whom)\b/gi,
  'where for if': /\bwhere (?:there|it|they|that|none) (?:is|are|was|were)\b/gi,
  'give up, go on': /\b(?:gives?|gave|given) up\b|\b(?:goes|go|went|going) on\b(?! to)/gi,
}

const root = fileURLToPath(new URL('..', import.meta.url))
const excluded =
  /^(?:package-lock|contract\/openapi\.json)|\/generated\/|\/fixtures\/|^scripts\/check-language|\/db\/schema\.(?:ts|sql)$|\/migrations\/0(?:0\d|1\d|2[0-6])-|\.golden\./

/** The prose of a file as [line, text] pairs: comments and texts of code, all but code of a document. */
function proseOf(file, text) {
  switch (extname(file)) {
    case '.md':
      return linesOf(text.replace(/^```[\s\S]*?^```/gm, blank).replace(/`[^`\n]*`/g, blank))
    case '.sql':
      return [...text.matchAll(/--(.*)/g)].map((match) => [lineAt(text, match.index), match[1]])
    case '.ts':
    case '.tsx':
    case '.mjs':
      return proseOfCode(file, text)
    default:
      return []
  }
}

function proseOfCode(file, text) {
  const token =
    /\/\/ ?(.*)|\/\*([\s\S]*?)\*\/|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g
  const found = [...text.matchAll(token)].map((match) => {
    const [, line, block, ...quoted] = match
    const prose = line ?? block?.replace(/^\s*\* ?/gm, '') ?? quoted.find((one) => one !== undefined) ?? ''
    return [lineAt(text, match.index), prose.replace(/\$\{[^}]*\}|`[^`\n]*`/g, ' x ')]
  })
  const shown = file.endsWith('.tsx')
    ? [...text.matchAll(/>([^<>{}=;]{3,})</g)].map((match) => [lineAt(text, match.index), match[1]])
    : []
  // A single word is a name or a code, not prose.
  return [...found, ...shown].filter(([, prose]) => /\w\s+\w/.test(prose))
}

const blank = (match) => match.replace(/[^\n]/g, ' ')
const linesOf = (text) => text.split('\n').map((line, index) => [index + 1, line])
const lineAt = (text, index) => text.slice(0, index).split('\n').length

function placesOf(files) {
  const places = []
  let words = 0
  for (const file of files) {
    for (const [line, prose] of proseOf(file, readFileSync(`${root}${file}`, 'utf8'))) {
      words += prose.match(/[A-Za-z][A-Za-z'-]*/g)?.length ?? 0
      for (const [phrase, pattern] of Object.entries(phrases)) {
        for (const match of prose.trim().matchAll(pattern))
          places.push({ phrase, file, line, text: match.input.trim().replace(/\s+/g, ' ') })
      }
    }
  }
  return { places, words }
}

function trackedFiles(folder = '') {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', folder || '.'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.(?:ts|tsx|mjs|md|sql)$/.test(file) && !excluded.test(file))
}

function main([option, phrase, folder]) {
  if (option === '--list') {
    const { places } = placesOf(trackedFiles(folder))
    for (const place of places) {
      if (phrase === 'all' || place.phrase === phrase)
        process.stdout.write(`${place.file}:${place.line}: [${place.phrase}] ${place.text}\n`)
    }
    return true
  }
  const { places, words } = placesOf(trackedFiles(option))
  const rates = Object.keys(phrases).map((name) => {
    const count = places.filter((place) => place.phrase === name).length
    return { name, count, rate: (count / words) * 1000 }
  })
  for (const { name, count, rate } of rates)
    process.stdout.write(
      `${rate > LEVEL_MAX ? 'above ' : 'ok    '} ${name.padEnd(20)} ${rate.toFixed(2).padStart(6)}  ${count}\n`,
    )
  process.stdout.write(`${words} words; at most ${LEVEL_MAX} of each per 1,000\n`)
  return rates.every(({ rate }) => rate <= LEVEL_MAX)
}

process.exitCode = main(process.argv.slice(2)) ? 0 : 1
