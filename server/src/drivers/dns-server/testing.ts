// For tests: the output of dig for a question, and a primary whose zones are in a database.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createTestDatabase } from '../../db/testing.ts'
import { respondTo } from '../../dns/answer/respond.ts'
import { publishZone, type PublishDeps } from '../../dns/publish/publish-zone.ts'
import { compileAccess } from '../../dns/serve/access.ts'
import { ServedZones } from '../../dns/serve/served-zones.ts'
import { listServedZones } from '../../dns/serve/served.store.ts'
import { signZone } from '../../dns/sign/sign-zone.ts'
import { rcode } from '../../net/dns/message.ts'
import { parseName } from '../../net/dns/name.ts'
import type { Serial } from '../../net/dns/serial.ts'
import type { TsigKey } from '../../net/dns/tsig.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import { createHandler, type HandlerDeps } from './handler.ts'
import { startListener } from './listener.ts'

const run = promisify(execFile)

/** Returns the output of dig for a question to a port, by default of 127.0.0.1; an empty text without an answer. */
export async function dig(port: number, ...args: string[]): Promise<string> {
  const server = args.find((arg) => arg.startsWith('@')) ?? '@127.0.0.1'
  const others = args.filter((arg) => !arg.startsWith('@'))
  const dig = run('dig', [server, '-p', String(port), '+tries=1', '+time=5', ...others])
  const { stdout } = await dig.catch(() => ({ stdout: '' }))
  return stdout.trim()
}

/** A primary with its own database: it serves published zones. */
export type TestPrimary = {
  readonly deps: PublishDeps
  readonly zones: ServedZones
  readonly key: TsigKey
  readonly address: string
  readonly port: number
  /** Its clock, for TSIG. */
  readonly clock: { aheadSeconds: number }
  /** Publishes the new versions of a zone, serves it, and returns its serial. */
  publish(zoneId: number): Promise<Serial>
  /** Stops and starts answering at the same port. */
  stop(): Promise<void>
  start(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export const testKey: TsigKey = {
  name: parseName('transfer.example.'),
  algorithm: 'hmac-sha256',
  secret: Buffer.alloc(32, 'k'),
}

/** Followers are known by `testKey`; their transfers may come from anywhere. */
export async function startTestPrimary(options: Partial<HandlerDeps> = {}): Promise<TestPrimary> {
  const database = await createTestDatabase()
  const db = database.postgres.owner
  const deps: PublishDeps = {
    db,
    ring: createKeyRing(['t'.repeat(32)]),
    signWhole: signZone,
    now: () => new Date(),
  }
  const zones = new ServedZones({ db, isInMemory: true, now: () => new Date() })
  await zones.refresh(true)
  const unlimited = { networks: [], expires: null, transfers: [], limited_to: null }
  const access = compileAccess(
    {
      followers: [{ address: null, key: testKey.name, signing: 'pharos' }],
      zones: [],
      keys: [
        { name: testKey.name, algorithm: testKey.algorithm, secret_sealed: Buffer.alloc(0), ...unlimited },
      ],
      primaries: [],
    },
    () => testKey.secret,
  )
  const clock = { aheadSeconds: 0 }
  const handler = createHandler({
    zones,
    answer: (query, transport) => respondTo({ zones: zones.contents, version: 'test' }, query, transport),
    findKey: access.findKey,
    transferView: (name, peer) => {
      const zone = zones.get(name)
      return zone && access.transferView(zone.id, peer)
    },
    notified: () => rcode.NOTAUTH,
    now: () => Date.now() / 1000 + clock.aheadSeconds,
    ...options,
  })
  const address = '127.0.0.1'
  let listener = await startListener({ host: address, port: 0, handler })
  const { port } = listener
  let refreshing: Promise<unknown> = Promise.resolve()
  return {
    deps,
    zones,
    key: testKey,
    address,
    port,
    clock,
    async publish(zoneId) {
      await publishZone(deps, zoneId)
      await (refreshing = refreshing.then(() => zones.refresh(false)))
      const zone = (await listServedZones(db)).find(({ id }) => id === zoneId)
      return zone!.serial
    },
    stop: () => listener.close(),
    async start() {
      listener = await startListener({ host: address, port, handler })
    },
    async [Symbol.asyncDispose]() {
      await listener.close().catch(() => {})
      await database[Symbol.asyncDispose]()
    },
  }
}
