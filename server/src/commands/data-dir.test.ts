import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CommandFailure } from './command.ts'
import { readConfiguration } from './configuration.ts'
import { commands } from './index.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-data-dir-'))
after(() => rmSync(folder, { recursive: true }))

/** Arguments with which each command would read the database. */
const reading: Readonly<Record<string, readonly string[]>> = {
  status: [],
  token: ['list'],
  user: ['sign-out', 'ada@acme.example'],
  replay: [],
  approvals: ['list'],
  region: ['gone', '1'],
  drain: ['ams', 'r1'],
  undrain: ['ams', 'r1'],
  'access-review': [],
  audit: ['verify'],
  bills: ['review'],
  secrets: ['list'],
  flows: ['exporters'],
  restore: ['show'],
  drill: ['restore', '--database-url', 'postgres://127.0.0.1:1/x'],
  'setup-code': [],
  staff: ['sign-in', 'optional'],
  team: ['sign-in', 'acme', 'optional'],
  'support-bundle': ['--out', join(folder, 'bundle.json.gz')],
}
/** Commands that create a database, or need no database. */
const others = ['start', 'serve', 'migrate', 'apply', 'import', 'config', 'mail', 'agent']

describe('in a folder without the data of a server', () => {
  for (const command of commands.filter(({ name }) => !others.includes(name))) {
    it(`pharos ${command.name} names the data directory, and creates nothing`, async () => {
      const env = { PHAROS_DATA_DIR: join(folder, 'data') }
      const run = command.run({
        args: reading[command.name] ?? assert.fail(`no arguments for ${command.name}`),
        env,
        config: (from = env) => readConfiguration(from),
        out: () => {},
      })
      await assert.rejects(run, (error) => {
        assert.ok(error instanceof CommandFailure, String(error))
        assert.equal(error.exitCode, 2)
        assert.ok(error.message.includes(join(folder, 'data')), error.message)
        assert.match(error.message, /has no database.*PHAROS_DATA_DIR/)
        return true
      })
      assert.deepEqual(readdirSync(folder), [])
      assert.ok(!existsSync(join(folder, 'data')))
    })
  }
})
