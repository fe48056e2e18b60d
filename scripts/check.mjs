// `npm run check`: every static check, and whether the generated files are up to date. All parts run at the same time; each
// prints a line, and a failed one its output. A part that passed with the same files is skipped, unless `--all` is given or CI=true.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { foldersOfProgram, hashContent, hasPassed, savePassed } from './check-cache.mjs'

const LINES_MAX = 200

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * `read`: the folders of which the result depends, besides `scripts` and the settings in the root; all by default. A part is skipped if they
 * are as they were when it passed (check-cache.mjs).
 */
const parts = [
  types(),
  { title: 'lint (oxlint)', args: ['node_modules/oxlint/bin/oxlint'] },
  {
    title: 'unused code (knip)',
    args: ['node_modules/knip/bin/knip.js', '--no-progress', '--cache'],
    read: () => ['bench', 'contract', 'demo', 'dist', 'lab', 'portal', 'server'],
  },
  { title: 'format (oxfmt)', args: ['node_modules/oxfmt/bin/oxfmt', '--check'] },
  {
    title: 'schema.ts, schema.sql',
    args: ['server/src/db/generate.ts', '--check'],
    read: () => ['contract', 'demo', 'server'],
  },
  { title: 'language', args: ['scripts/check-language.mjs'] },
  {
    title: 'surface.txt, roles.md',
    args: ['server/src/http/generate-documents.ts', '--check'],
    read: () => ['contract', 'docs', 'server'],
  },
  { title: 'OpenAPI (redocly)', args: ['scripts/lint-openapi.mjs'], read: () => ['contract'] },
  {
    title: 'imports, references',
    args: ['--test', 'server/test/imports.test.ts', 'server/test/references.test.ts'],
    file: 'server/test/imports.test.ts',
  },
]

/**
 * One build of three projects: the declarations of the contract, then server and portal, which read these. The compiler caches its
 * results, and a change of the contract that leaves its declarations as they are, such as a description, checks no other project. More
 * checkers repeat each other's work.
 */
function types() {
  const projects = ['tsconfig.check.json', 'portal/tsconfig.check.json']
  const infos = ['contract', 'server', 'portal'].map((name) => `node_modules/.cache/tsc/${name}.tsbuildinfo`)
  return {
    title: 'types (tsc)',
    args: ['node_modules/typescript/bin/tsc', '-b', ...projects, '--builders', '2', '--checkers', '1'],
    // Fewer collections of garbage: 32 s of processor time instead of 38 to 46, for 0.6 GB more.
    env: { GOGC: '400' },
    read: () => [...new Set(infos.flatMap((info) => foldersOfProgram(root, info)))].sort(),
  }
}

/**
 * Resolves with the titles of the parts that failed. With `all`, no part is skipped. Beside tests, one part runs at a time with a low
 * priority, so that it uses the time in which tests wait, and parts that are tests are left to them.
 */
export async function check({ all = process.env.CI === 'true', besideTests = false } = {}) {
  const content = hashContent(root)
  const wanted = parts.filter(
    ({ file }) => file === undefined || (existsSync(join(root, file)) && !besideTests),
  )
  const isDone = ({ title, args }) => !all && hasPassed(root, title, args, content)
  const [skipped, due] = [wanted.filter(isDone), wanted.filter((part) => !isDone(part))]
  for (const { title } of skipped) report('ok', title, 'unchanged')
  const results = besideTests
    ? await runInOrder(due)
    : await Promise.all(due.map((part) => runPart(part, [])))
  // A change in the meantime may or may not have been seen.
  const isSame = isDeepStrictEqual(hashContent(root), content)
  for (const [at, { title, args, read }] of due.entries())
    if (results[at] && isSame && content !== undefined) savePassed(root, title, args, content, read?.())
  return due.filter((_, at) => !results[at]).map(({ title }) => title)
}

async function runInOrder(due) {
  const results = []
  for (const part of due) results.push(await runPart(part, ['nice', '-n', '5']))
  return results
}

async function runPart({ title, args, env }, prefix) {
  const start = performance.now()
  const { status, output } = await run([...prefix, process.execPath, ...args], env)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  report(status === 0 ? 'ok' : 'FAILED', title, `${seconds.padStart(5)} s`)
  if (status !== 0) process.stdout.write(indent(output))
  return status === 0
}

const report = (result, title, note) =>
  process.stdout.write(`${result.padEnd(6)} ${title.padEnd(22)} ${note}\n`)

function indent(output) {
  const lines = output.trimEnd().split('\n')
  const more = lines.length > LINES_MAX ? [`... and ${lines.length - LINES_MAX} lines more`] : []
  return [...lines.slice(0, LINES_MAX), ...more].map((line) => `       ${line}\n`).join('')
}

function run([program, ...args], env) {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: 1, output: error.message }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

if (import.meta.main) {
  const failed = await check(process.argv.includes('--all') ? { all: true } : {})
  process.exitCode = failed.length === 0 ? 0 : 1
}
