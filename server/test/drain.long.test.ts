// Processes behind HAProxy are replaced one after the other while twelve clients send requests: all requests succeed.
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../lab/src/address.ts'
import { waitFor } from '../../lab/src/wait.ts'
import { killProgram, skipWithout, startProgram } from '../../lab/src/program.ts'
import { seedTeam } from '../src/byoip/announcement/testing.ts'
import { createTestDatabase } from '../src/db/testing.ts'
import { createKeyRing } from '../src/runtime/secrets.ts'
import { addApiToken } from './support/credentials.ts'
import { ServerProcess } from './support/server-process.ts'

const secret = 's'.repeat(40)
const clientCount = 12
const restarts = 4

/** As docs/operating/upgrade.md shows it. */
const configuration = (port: number, statusPort: number, servers: readonly ServerProcess[]) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
frontend api
  bind 127.0.0.1:${port}
  default_backend pharos
backend pharos
  option httpchk GET /readyz
  default-server check inter 1s fall 1 rise 1
${servers.map(({ url }, at) => `  server s${at} ${new URL(url).host}\n`).join('')}
listen status
  bind 127.0.0.1:${statusPort}
  stats enable
  stats uri /
`

/** Waits until HAProxy sends requests to every process: a check may be late on a busy machine. */
async function untilAllUp(statusPort: number): Promise<void> {
  await waitFor(
    'HAProxy to send requests to every process',
    async () => {
      const answer = await fetch(`http://127.0.0.1:${statusPort}/;csv`).catch(() => undefined)
      const rows = ((await answer?.text()) ?? '').split('\n').map((line) => line.split(','))
      const states = rows.filter(([name, server]) => name === 'pharos' && server !== 'BACKEND')
      return states.length > 0 && states.every((fields) => fields[17] === 'UP')
    },
    { timeoutMs: 300_000, everyMs: 100 },
  )
}

describe('behind HAProxy', { skip: skipWithout('haproxy') }, () => {
  it('no request fails while processes are replaced', { timeout: 1_800_000 }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'pharos-drain-'))
    await using database = await createTestDatabase()
    const teamId = await seedTeam(database.postgres, 'ours')
    const issuer = { database, config: { secret: createKeyRing([secret]) } }
    const token = await addApiToken(issuer, teamId, { scopes: ['ipam:read'] })
    const settings = {
      DATABASE_URL: database.databaseUrl,
      PHAROS_SECRET: secret,
      // Checks may be late on a busy machine.
      PHAROS_DRAIN_SECONDS: '15',
      PHAROS_RATE_LIMIT_PER_SECOND: '100000',
      PHAROS_RATE_LIMIT_BURST: '1000000',
    }
    const create = () => ServerProcess.create({ folder, settings, roles: ['api'] })
    const servers = [await create(), await create()]
    let haproxy: ChildProcess | undefined
    try {
      for (const server of servers) await server.start()
      const [port, statusPort] = [await freePort(), await freePort()]
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(file, configuration(port, statusPort, servers))
      haproxy = startProgram('haproxy', ['-db', '-f', file], join(folder, 'haproxy.log'))
      const url = `http://127.0.0.1:${port}`
      const read = (path: string) => fetch(url + path, { headers: { authorization: `Token ${token}` } })
      await untilAllUp(statusPort)

      const counts = new Map<string, number>()
      const load = { isOver: false }
      const client = async () => {
        while (!load.isOver) {
          const answer = await read('/v3/ipam/regions').then(
            async (response) => `${response.status} ${(await response.arrayBuffer()).byteLength > 0}`,
            (error: Error) => String(error.cause ?? error),
          )
          counts.set(answer, (counts.get(answer) ?? 0) + 1)
        }
      }
      const clients = Promise.all(Array.from({ length: clientCount }, client))
      for (let at = 0; at < restarts; at++) {
        const server = servers[at % servers.length]!
        await server.kill('SIGTERM')
        await server.start()
        await untilAllUp(statusPort)
        await sleep(1_000)
      }
      load.isOver = true
      await clients
      assert.deepEqual([...counts.keys()], ['200 true'])
      t.diagnostic(`${counts.get('200 true')} requests`)
    } finally {
      if (haproxy) await killProgram(haproxy, 'SIGTERM')
      await Promise.all(servers.map((server) => server.kill()))
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
