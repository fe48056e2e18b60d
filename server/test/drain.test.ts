// A process that is stopped serves for drain_seconds, and reports in the meantime that it is not ready.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { seedTeam } from '../src/byoip/announcement/testing.ts'
import { createTestDatabase, type TestDatabase } from '../src/db/testing.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { addApiToken } from './support/credentials.ts'
import { ServerProcess } from './support/server-process.ts'

const secret = 's'.repeat(40)
const folder = mkdtempSync(join(tmpdir(), 'pharos-drain-'))
let database: TestDatabase
let headers: { readonly authorization: string }
before(async () => {
  database = await createTestDatabase()
  const issuer = { database, config: { secret: createKeyRing([secret]) } }
  const teamId = await seedTeam(database.postgres, 'ours')
  headers = { authorization: `Token ${await addApiToken(issuer, teamId, { scopes: ['ipam:read'] })}` }
})
after(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

async function startApi(drainSeconds: number): Promise<ServerProcess> {
  const settings = {
    DATABASE_URL: database.databaseUrl,
    PHAROS_SECRET: secret,
    PHAROS_DRAIN_SECONDS: String(drainSeconds),
  }
  const server = await ServerProcess.create({ folder, settings, roles: ['api'] })
  await server.start()
  return server
}

const read = ({ url }: ServerProcess) => fetch(`${url}/v3/ipam/regions`, { headers })

describe('a process whose log and errors are on a full disk', () => {
  it('starts, serves, and ends when it is told to', async () => {
    const settings = { DATABASE_URL: database.databaseUrl, PHAROS_SECRET: secret, PHAROS_LOG_LEVEL: 'info' }
    const server = await ServerProcess.create({ folder, settings, roles: ['api', 'reconciler'] })
    symlinkSync('/dev/full', join(folder, `server-${new URL(server.url).port}.log`))
    try {
      await server.start()
      for (let at = 0; at < 20; at++) assert.equal((await read(server)).status, 200)
      assert.equal(await server.isReady(), true)
      server.signal('SIGTERM')
      assert.equal(await server.exit(), 0)
    } finally {
      await server.kill()
    }
  })
})

describe('a process that is told to stop', () => {
  it('serves those who have not noticed yet, and ends by itself', async () => {
    const server = await startApi(5)
    try {
      const statuses: number[] = []
      const load = { isOver: false }
      const client = async () => {
        while (!load.isOver) statuses.push((await read(server)).status)
      }
      const clients = Promise.all([client(), client(), client()])
      while (statuses.length < 20) await sleep(10)
      server.signal('SIGTERM')
      while (await server.isReady()) await sleep(10)
      load.isOver = true
      await clients
      assert.deepEqual(new Set(statuses), new Set([200]))
      assert.equal(await server.exit(), 0, server.lastOutput)
      await assert.rejects(read(server))
    } finally {
      await server.kill()
    }
  })

  it('closes connections after their answers, and ends at once with a second signal', async () => {
    const server = await startApi(600)
    try {
      server.signal('SIGTERM')
      while (await server.isReady()) await sleep(10)
      const answer = await read(server)
      assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close'])
      const readiness = await fetch(`${server.url}/readyz`)
      assert.equal(await readiness.text(), 'not ready: stopping\n')
      assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
      // A signal soon after the first one counts as the same: npm passes Ctrl-C on.
      const ended = server.exit()
      const again = setInterval(() => server.signal('SIGTERM'), 500)
      assert.equal(await ended, 130)
      clearInterval(again)
    } finally {
      await server.kill()
    }
  })
})
