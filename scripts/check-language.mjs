// Counts phrases that plain technical English avoids, per 1,000 words, and fails above the level of five reference
// codebases. The first table covers comments, texts and documents together (Kysely, Fastify, graphile-worker, Omicron
// and Akvorado: 0.3 each). The second covers comments and documents only, per area, with a level per phrase.
//
//   node scripts/check-language.mjs                 the tables
//   node scripts/check-language.mjs DIR             the tables of a folder
//   node scripts/check-language.mjs --list says     every place of one phrase
//   node scripts/check-language.mjs --list all DIR  every place of every phrase in a folder
//   node scripts/check-language.mjs --list comments DIR  every place of the second table
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

/** Phrases counted in comments and documents, with the highest rate of the reference codebases per 1,000 words. */
const commentPhrases = {
  'those of': [/\bthose\s+(?:of|that|with)\b/gi, 0.18],
  nothing: [/\b(?:nothing|nobody|none)\b/gi, 0.67],
  'one that': [/\bones?\s+(?:that|of|for)\b/gi, 0.71],
  'what is': [/\bwhat\s+(?:is|was|has|the)\b/gi, 1.1],
  held: [/\b(?:held|holds)\b/gi, 0.47],
  shown: [/\bshown\b/gi, 0.53],
  kept: [/\bkept\b/gi, 0.93],
  'at once': [/\bat\s+once\b/gi, 0.17],
  'is that of': [/\bis\s+that\s+of\b/gi, 0.02],
}

/** The areas of the second table: the first whose pattern matches a file. */
const areas = {
  documents: /\.md$/,
  server: /^server\//,
  portal: /^portal\//,
  contract: /^contract\//,
  other: /^/,
}

const root = fileURLToPath(new URL('..', import.meta.url))
const excluded =
  /^(?:package-lock|contract\/openapi\.json)|\/generated\/|\/fixtures\/|^scripts\/check-language|\/db\/schema\.(?:ts|sql)$|\.golden\./

/** The prose of a file as [index, text] pairs: comments and texts of code, all but code of a document. */
function proseOf(file, text) {
  switch (extname(file)) {
    case '.md':
      return linesOf(text.replace(/^```[\s\S]*?^```/gm, blank).replace(/`[^`\n]*`/g, blank))
    case '.sql':
      return [...text.matchAll(/--(.*)/g)].map((match) => [match.index, match[1]])
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
    return [match.index, prose.replace(/\$\{[^}]*\}|`[^`\n]*`/g, ' x ')]
  })
  const shown = file.endsWith('.tsx')
    ? [...text.matchAll(/>([^<>{}=;]{3,})</g)].map((match) => [match.index, match[1]])
    : []
  // A single word is a name or a code, not prose.
  return [...found, ...shown].filter(([, prose]) => /\w\s+\w/.test(prose))
}

const blank = (match) => match.replace(/[^\n]/g, ' ')
const linesOf = (text) => [...text.matchAll(/^.*$/gm)].map((match) => [match.index, match[0]])
const lineAt = (text, index) => text.slice(0, index).split('\n').length

/** Returns the comments of a file, or a document without code, as [index, text] pairs. Adjacent line comments are one. */
export function commentsOf(file, text) {
  switch (extname(file)) {
    case '.md':
      return [[0, text.replace(/^```[\s\S]*?^```/gm, blank).replace(/`[^`\n]*`/g, ' x ')]]
    case '.sql':
      return matchesOf(text, /--.*(?:\n[ \t]*--.*)*/g, /^[ \t]*-- ?/gm)
    default:
      return matchesOf(text, commentOrQuoted, /^[ \t]*(?:\/\/|\/\*\*?|\*(?!\/)) ?|\*\/$/gm)
  }
}

/** Line comments, block comments and quoted texts; only a comment is captured. */
const commentOrQuoted =
  /(\/\/.*(?:\n[ \t]*\/\/.*)*|\/\*[\s\S]*?\*\/)|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g

const matchesOf = (text, pattern, marks) =>
  [...text.matchAll(pattern)]
    .filter(([match, comment = match]) => comment.startsWith('/') || comment.startsWith('-'))
    .map((match) => [match.index, match[0].replace(marks, '').replace(/`[^`\n]*`/g, ' x ')])

const areaOf = (file) => Object.keys(areas).find((name) => areas[name].test(file))
const wordsOf = (prose) => prose.match(/[A-Za-z][A-Za-z'-]*/g)?.length ?? 0

/** Returns the places and the number of words of the first table. */
function placesOf(files) {
  const places = []
  let words = 0
  for (const { file, text } of files) {
    for (const [index, prose] of proseOf(file, text)) {
      words += wordsOf(prose)
      for (const [phrase, pattern] of Object.entries(phrases)) {
        for (const match of prose.trim().matchAll(pattern))
          places.push({
            phrase,
            file,
            line: lineAt(text, index),
            text: match.input.trim().replace(/\s+/g, ' '),
          })
      }
    }
  }
  return { places, words }
}

/** Returns the places and the number of words of the second table, by area. */
export function commentPlacesOf(files) {
  const places = []
  const words = {}
  for (const { file, text } of files) {
    const area = areaOf(file)
    for (const [index, prose] of commentsOf(file, text)) {
      words[area] = (words[area] ?? 0) + wordsOf(prose)
      for (const [phrase, [pattern]] of Object.entries(commentPhrases)) {
        for (const match of prose.matchAll(pattern))
          places.push({
            phrase,
            file,
            area,
            line: lineAt(text, index) + lineAt(prose, match.index) - 1,
            text: around(match),
          })
      }
    }
  }
  return { places, words }
}

/** The lines of a match. */
function around({ input, index, 0: match }) {
  const end = input.indexOf('\n', index + match.length)
  return input
    .slice(input.lastIndexOf('\n', index) + 1, end < 0 ? undefined : end)
    .trim()
    .replace(/\s+/g, ' ')
}

function trackedFiles(folder = '') {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', folder || '.'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.(?:ts|tsx|mjs|md|sql)$/.test(file) && !excluded.test(file))
    .map((file) => ({ file, text: readFileSync(`${root}${file}`, 'utf8') }))
}

function list(phrase, folder) {
  const files = trackedFiles(folder)
  const comments = commentPlacesOf(files).places
  const places = phrase === 'comments' ? comments : [...placesOf(files).places, ...comments]
  for (const place of places) {
    if (phrase === 'all' || phrase === 'comments' || place.phrase === phrase)
      process.stdout.write(`${place.file}:${place.line}: [${place.phrase}] ${place.text}\n`)
  }
  return true
}

/** Writes the first table and returns whether no phrase is above the level. */
function textTable(files) {
  const { places, words } = placesOf(files)
  const rates = Object.keys(phrases).map((name) => {
    const count = places.filter((place) => place.phrase === name).length
    return { name, count, rate: (count / words) * 1000 }
  })
  for (const { name, count, rate } of rates)
    process.stdout.write(
      `${rate > LEVEL_MAX ? 'above ' : 'ok    '} ${name.padEnd(20)} ${rate.toFixed(2).padStart(6)}  ${count}\n`,
    )
  process.stdout.write(`${words} words; at most ${LEVEL_MAX} of each per 1,000\n\n`)
  return rates.every(({ rate }) => rate <= LEVEL_MAX)
}

/** Writes the second table and returns whether no phrase is above its level in any area. */
function commentTable(files) {
  const { places, words } = commentPlacesOf(files)
  let passed = true
  const names = Object.keys(areas).filter((area) => words[area])
  process.stdout.write(`${''.padEnd(20)} level ${names.map((area) => area.padStart(18)).join('')}\n`)
  for (const [phrase, [, level]] of Object.entries(commentPhrases)) {
    const cells = names.map((area) => {
      const count = places.filter((place) => place.area === area && place.phrase === phrase).length
      const rate = (count / words[area]) * 1000
      passed &&= rate <= level
      return `${rate > level ? 'above ' : ''}${rate.toFixed(2)}  ${count}`.padStart(18)
    })
    process.stdout.write(`${phrase.padEnd(20)} ${String(level).padStart(5)} ${cells.join('')}\n`)
  }
  process.stdout.write(
    `${names.map((area) => `${words[area]} words of ${area}`).join(', ')}; rate per 1,000, places\n`,
  )
  return passed
}

function main([option, phrase, folder]) {
  if (option === '--list') return list(phrase, folder)
  const files = trackedFiles(option)
  const texts = textTable(files)
  return commentTable(files) && texts
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2)) ? 0 : 1
