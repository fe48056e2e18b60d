// Comments and documents refer to existing files, documents, decisions and sections. A broken reference fails here.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')
const folders = ['bench', 'contract', 'demo', 'docs', 'lab', 'portal', 'scripts', 'server']
const skipped = /(^|\/)(node_modules|generated|dist|fixtures|images)\//
/** Migrations do not change, and name the files of their time; so do the comments of the schema that they make. */
const unchanged = /(^|\/)migrations\/|^server\/src\/db\/schema\.(sql|ts)$/

/** Every file of the project, by its path from the root. */
const files: readonly string[] = [
  ...readdirSync(root).filter((name) => name.includes('.')),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  ),
].filter((file) => !skipped.test(file))

const decisions = new Set(
  readdirSync(join(root, 'docs/decisions')).map((name) => /^\d{3}/.exec(name)?.[0] ?? name),
)

/** Names in examples of this file and of docs/architecture.md. */
const examples: ReadonlySet<string> = new Set(['x.ts', 'x.store.ts', 'x.routes.ts', 'c.md', 'd.ts', 'e.md'])

type Reference = { readonly line: number; readonly text: string }

/** Returns the files and decisions that a text names. URLs (`https://...`, `/docs/problems`) are not files. */
function referencesIn(text: string): string[] {
  const plain = text.replaceAll(/\b[a-z]+:\/\/\S+/g, '')
  return [
    ...plain.matchAll(/(?<![\w/.<>*@$~-])(?:\.{1,2}\/)*[\w][\w./-]*\.(?:md|tsx?|mjs|sql)\b(?![\w*-])/g),
    ...plain.matchAll(/(?<![\w/])docs\/[\w/-]+\/(?=[`\s)])/g),
    ...plain.matchAll(/\bdecision \d{3}\b/gi),
    ...plain.matchAll(/[\w./-]+\.md,? section [\d.]*\d/g),
  ].map(([found]) => found)
}

/** Returns the comments of a source file, one entry for each line with one. */
function commentsOf(file: string, text: string): Reference[] {
  const pattern = file.endsWith('.sql')
    ? /(?:^|\s)-- (.*)$/
    : /^\s*(?:\/?\*+\s|\{\/\*)(.*)$|(?:^|\s)\/\/ (.*)$/
  return text.split('\n').flatMap((line, at) => {
    const match = pattern.exec(line)
    const comment = match?.[1] ?? match?.[2]
    return comment === undefined ? [] : [{ line: at + 1, text: comment }]
  })
}

const linesOf = (text: string): Reference[] =>
  text.split('\n').map((line, at) => ({ line: at + 1, text: line }))

/** Returns whether a name is that of a file: from the root, from the folder of the naming file, or as the end of a path. */
function exists(name: string, from: string): boolean {
  if (examples.has(name)) return true
  const decision = /^decision (\d{3})$/i.exec(name)?.[1]
  if (decision !== undefined) return decisions.has(decision)
  const [, document, section] = /^(.+\.md),? section ([\d.]+)$/.exec(name) ?? []
  if (document !== undefined) return hasSection(document, section!)
  const relativePath = normalize(join(dirname(from), name))
  if (existsSync(join(root, name)) || existsSync(join(root, relativePath))) return true
  return !name.startsWith('.') && files.some((file) => file.endsWith(`/${name}`))
}

function hasSection(document: string, section: string): boolean {
  const path = files.find((file) => file === document || file.endsWith(`/${document}`))
  return path !== undefined && readFileSync(join(root, path), 'utf8').includes(`\n## ${section}`)
}

function deadReferences(): string[] {
  return files.flatMap((file) => {
    const isDocument = file.endsWith('.md')
    if ((!isDocument && !/\.(tsx?|mjs|sql)$/.test(file)) || unchanged.test(file)) return []
    const text = readFileSync(join(root, file), 'utf8')
    const places = isDocument ? linesOf(text) : commentsOf(file, text)
    return places.flatMap((place) =>
      referencesIn(place.text)
        .filter((name) => !exists(name, file))
        .map((name) => `${file}:${place.line}: ${name}`),
    )
  })
}

/** Returns the anchors of a document's headings, as GitHub generates them. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

function deadLinks(): string[] {
  return files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const links = [...readFileSync(join(root, file), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
      return links
        .map(([, link]) => link!)
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => !isLink(link, file))
        .map((link) => `${file}: ${link}`)
    })
}

function isLink(link: string, from: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? join(root, from) : join(root, dirname(from), path)
  if (!existsSync(target)) return false
  return anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).has(anchor)
}

describe('references', () => {
  it('in comments and documents name existing files and decisions', () => {
    assert.deepEqual(deadReferences(), [])
  })

  it('in documents link to existing files and headings', () => {
    assert.deepEqual(deadLinks(), [])
  })

  it('are found in comments and sentences, and URLs are ignored', () => {
    assert.deepEqual(
      referencesIn('See docs/nothing.md, `x/y.ts` (decision 999) and https://host/z.md or /docs/problems.'),
      ['docs/nothing.md', 'x/y.ts', 'decision 999'],
    )
    assert.deepEqual(
      commentsOf('a.ts', "const a = 'b.md' // see c.md\n/** d.ts */\n * e.md").map(({ text }) => text),
      ['see c.md', 'd.ts */', 'e.md'],
    )
    for (const name of ['docs/nothing.md', 'nothing.ts', 'decision 999', 'architecture.md section 3'])
      assert.ok(!exists(name, 'server/src/main.ts'), name)
  })
})
