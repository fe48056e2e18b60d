// Counts functions of more than 70 lines, without blank lines and comments. The number only falls. Tests and conformance suites do not count.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)

/** Most functions of more than 70 lines in a folder. Lower it with every function that is split. */
const limits = { 'server/src': 5, 'portal/src': 9, 'contract/src': 0, 'demo/src': 0 }

/** Functions of more than 150 lines. Remove a line with the function that is split. */
const long = {
  'server/src/drivers/netflow/message.ts createMessageDecoder': 'a decoder: its functions share the message',
  'server/src/drivers/netflow/sflow.ts createSflowDecoder': 'a decoder: its functions share the datagram',
}

let folder
let found

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'function-lengths-'))
  const config = join(folder, 'oxlint.json')
  await writeFile(
    config,
    JSON.stringify({
      plugins: [],
      categories: { correctness: 'off' },
      rules: {
        'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      },
    }),
  )
  const ignored = ['**/*.test.ts', '**/*.test.tsx', '**/*.conformance.ts', '**/generated/**'].flatMap(
    (pattern) => ['--ignore-pattern', pattern],
  )
  const { stdout } = await run(
    join(root, 'node_modules/.bin/oxlint'),
    ['-c', config, '-f', 'json', ...ignored, ...Object.keys(limits)],
    { cwd: root, maxBuffer: 1 << 26 },
  ).catch((error) => error)
  found = JSON.parse(stdout).diagnostics.map(({ message, filename }) => ({
    path: filename.replaceAll('\\', '/'),
    name: /`(\w+)`/.exec(message)?.[1] ?? '',
    lines: Number(/\((\d+)\)/.exec(message)[1]),
  }))
})
after(() => rm(folder, { recursive: true }))

const textOf = ({ path, name, lines }) => `${path} ${name}: ${lines} lines`

describe('functions', () => {
  for (const [start, limit] of Object.entries(limits)) {
    it(`of more than 70 lines in ${start} are at most ${limit}`, () => {
      const here = found.filter(({ path }) => path.startsWith(`${start}/`))
      assert.equal(here.length, limit, here.map(textOf).join('\n'))
    })
  }

  it('of more than 150 lines are named with a reason', () => {
    const names = found.filter(({ lines }) => lines > 150).map(({ path, name }) => `${path} ${name}`)
    assert.deepEqual(names.toSorted(), Object.keys(long).toSorted())
  })
})
