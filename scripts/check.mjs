// `npm run check`: every static check, and whether the generated files are up to date. All parts run, at once; each
// prints a line, and a failed one its output.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LINES_MAX = 200

const root = fileURLToPath(new URL('..', import.meta.url))

const parts = [
  { title: 'types (tsc)', args: typesOf('tsconfig.json') },
  { title: 'portal types (tsc)', args: typesOf('portal/tsconfig.json') },
  { title: 'portal tests (tsc)', args: typesOf('portal/test/tsconfig.json') },
  { title: 'lint (oxlint)', args: ['node_modules/oxlint/bin/oxlint'] },
  { title: 'unused code (knip)', args: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  { title: 'format (oxfmt)', args: ['node_modules/oxfmt/bin/oxfmt', '--check'] },
  { title: 'schema.ts, schema.sql', args: ['server/src/db/generate.ts', '--check'] },
  { title: 'language', args: ['scripts/check-language.mjs'] },
  { title: 'openapi.json', args: ['server/src/http/generate-openapi.ts', '--check'] },
  { title: 'openapi.json (redocly)', args: ['scripts/lint-openapi.mjs'] },
  {
    title: 'imports, references',
    args: ['--test', 'server/test/imports.test.ts', 'server/test/references.test.ts'],
    file: 'server/test/imports.test.ts',
  },
]

/**
 * The compiler caches its results for unchanged files: a tenth of the processor time from the second run on. More
 * checkers repeat each other's work (half of the time on two cores), and the parts run beside each other anyway.
 */
function typesOf(project) {
  const info = `node_modules/.cache/tsc/${project.replaceAll('/', '-')}.tsbuildinfo`
  const cached = ['--incremental', '--tsBuildInfoFile', info]
  return ['node_modules/typescript/bin/tsc', '-p', project, '--checkers', '1', ...cached]
}

/** Resolves with whether every part passed. */
export async function check() {
  const wanted = parts.filter(({ file }) => file === undefined || existsSync(join(root, file)))
  const results = await Promise.all(wanted.map(runPart))
  return results.every(Boolean)
}

async function runPart({ title, args }) {
  const start = performance.now()
  const { status, output } = await run(args)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${title.padEnd(22)} ${seconds.padStart(5)} s\n`)
  if (status !== 0) process.stdout.write(indent(output))
  return status === 0
}

function indent(output) {
  const lines = output.trimEnd().split('\n')
  const more = lines.length > LINES_MAX ? [`... and ${lines.length - LINES_MAX} lines more`] : []
  return [...lines.slice(0, LINES_MAX), ...more].map((line) => `       ${line}\n`).join('')
}

function run(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ status: 1, output: error.message }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

if (import.meta.main) process.exitCode = (await check()) ? 0 : 1
