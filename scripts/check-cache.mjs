// Which parts of the check have passed with the present content of the repository, so that they need not run again. The content of whole
// folders decides, of every file that git does not ignore; a part that fails, and a clone that is new, have no entry.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** The files in the root: settings of the compiler and the tools, the lockfile. Every part depends on them. */
const SETTINGS = '.'
const DOCUMENTS = '*.md'

/**
 * Returns a hash for each folder of the root, a hash of the documents in the root and a hash of its other files with
 * the installed packages and the version of Node. Undefined outside of a git repository.
 */
export function hashContent(root) {
  const args = ['ls-files', '-coz', '--exclude-standard', '--deduplicate']
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
  if (status !== 0) return undefined
  const hashes = new Map([[SETTINGS, newHash(process.version, process.platform, process.arch)]])
  const files = stdout.split('\0').filter((file) => file !== '')
  for (const file of [...files.sort(), 'node_modules/.package-lock.json']) {
    const group = groupOf(file)
    if (!hashes.has(group)) hashes.set(group, newHash())
    const content = contentOf(join(root, file))
    hashes
      .get(group)
      .update(`${file}\0${content?.length ?? 'missing'}\0`)
      .update(content ?? '')
  }
  return new Map([...hashes].map(([group, hash]) => [group, hash.digest('hex')]))
}

function groupOf(file) {
  if (file.startsWith('node_modules/')) return SETTINGS
  const folder = file.split('/', 1)[0]
  if (folder !== file) return folder
  return file.endsWith('.md') ? DOCUMENTS : SETTINGS
}

const newHash = (...texts) => createHash('sha256').update(texts.join('\0'))

/** Undefined for a file that was deleted but not committed yet, and for a path that is not a file. */
function contentOf(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** Whether the part has passed with this content. `read` are the folders that it reads; undefined: all, and the documents. */
export function hasPassed(root, title, args, content) {
  if (content === undefined) return false
  try {
    const { read, key } = JSON.parse(readFileSync(fileOf(root, title), 'utf8'))
    return key === keyOf(args, read, content)
  } catch {
    return false
  }
}

export function savePassed(root, title, args, content, read) {
  const file = fileOf(root, title)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify({ read, key: keyOf(args, read, content) }))
}

const fileOf = (root, title) =>
  join(root, 'node_modules/.cache/check', `${title.replaceAll(/\W+/g, '-')}.json`)

/** Every part depends on the scripts, too: they start it. */
function keyOf(args, read, content) {
  const groups = read ? [SETTINGS, 'scripts', ...read] : [...content.keys()].sort()
  return newHash(JSON.stringify([args, groups.map((group) => [group, content.get(group)])])).digest('hex')
}

/** Returns the folders of the files of a program, from the compiler's own list of the last run. */
export function foldersOfProgram(root, info) {
  const { fileNames } = JSON.parse(readFileSync(join(root, info), 'utf8'))
  const files = fileNames.map((name) => relative(root, resolve(root, dirname(info), name)))
  const folders = files.map((file) => file.split('/', 1)[0])
  return [...new Set(folders)].filter((folder) => folder !== 'node_modules').sort()
}
