// The start of the reconcilers while the database is silent: it accepts connections and never answers.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openPostgres } from '../../db/postgres.ts'
import { createWaker } from '../../db/wake.ts'
import { createSandboxSpeaker, sandboxRegion } from '../../drivers/sandbox/speaker.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { createLog } from '../../runtime/log.ts'
import { createMetrics } from '../../runtime/metrics.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { openGate } from '../../runtime/testing-gate.ts'
import { waitFor } from '../../../../lab/src/wait.ts'
import { createLastKnownRoutesFiles } from './last-known-routes.ts'
import { createReconcilers } from './reconcilers.ts'

const region = { id: 1, slug: 'silent', speakers: [], quorum: null, communities: [], largeCommunities: [] }
const route = {
  prefix: parsePrefix('203.0.113.0/24'),
  asPath: [64496],
  nextHop: '0.0.0.0',
  communities: [],
  largeCommunities: [],
}

it('gives an empty router its last known routes before the first query to a silent database has failed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-silent-'))
  let failed = 0
  const server = createServer(
    (socket) =>
      void socket
        .on('error', () => {})
        .on('close', () => void failed++)
        .resume(),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const postgres = await openPostgres({ databaseUrl: `postgres://p@127.0.0.1:${port}/p`, dataDir: folder })
  const lastKnownRoutes = createLastKnownRoutesFiles(
    folder,
    createKeyRing(['a-secret-of-at-least-thirty-two-bytes']),
  )
  await lastKnownRoutes.save({
    region,
    routers: [{ name: 'silent', routes: [route] }],
    at: new Date().toISOString(),
  })
  const component = createReconcilers({
    postgres,
    waker: createWaker(postgres),
    speakersOf: () => [{ name: 'silent', speaker: createSandboxSpeaker({ region: 'silent' }), routes: {} }],
    lastKnownRoutes,
    gate: openGate,
    report: async () => {},
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    metrics: createMetrics(),
  })
  t.after(async () => {
    await component.stop?.()
    await postgres.stop()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const table = sandboxRegion('silent').table('pharos')
  let failedBefore: number | undefined
  const set = table.set.bind(table)
  table.set = (prefix, value) => {
    failedBefore ??= failed
    return set(prefix, value)
  }
  await component.start?.()
  await waitFor('the route', () => table.has(route.prefix))
  assert.equal(failedBefore, 0)
})
