// The suites of the API and of DNS on the lowest version of PostgreSQL that Pharos supports. Each is run as it is, in a process of
// its own, with a server of Debian's packages instead of the embedded one.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  skipWithoutDebianPostgres,
  startDebianPostgres,
  type DebianPostgres,
} from '../src/db/testing-debian.ts'

const suites = [
  'every-route.test.ts',
  'every-list.test.ts',
  'generated-requests.test.ts',
  'dns-zones.test.ts',
  'dns-reverse.test.ts',
  '../src/dns/publish/publish-zone.test.ts',
  '../src/dns/publish/publish-signed.test.ts',
  '../src/events/list/list-events.test.ts',
  '../src/events/relate/team-part.test.ts',
  '../src/db/owner.test.ts',
  '../src/db/wake.test.ts',
  '../src/db/maintenance.test.ts',
]
/** Repetitions find faults of Pharos, on any server. With all of them a suite takes longer than a test may. */
const scale = '0.1'
const skip = skipWithoutDebianPostgres()

describe("on Debian's PostgreSQL", { skip }, () => {
  let server: DebianPostgres
  before(async () => {
    server = await startDebianPostgres()
  })
  after(() => server[Symbol.asyncDispose]())

  for (const suite of suites)
    it(`${suite} passes`, async () => {
      const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
      const file = fileURLToPath(new URL(suite, import.meta.url))
      const child = spawn(process.execPath, ['--test-reporter=dot', file], {
        env: { ...inherited, PHAROS_TEST_DATABASE_URL: server.databaseUrl, PHAROS_TEST_SCALE: scale },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      child.stdout.on('data', (chunk) => (output += String(chunk)))
      child.stderr.on('data', (chunk) => (output += String(chunk)))
      const [status] = await once(child, 'close')
      assert.equal(status, 0, output)
    })
})
