// The nameserver role: answers queries and transfers zones from the published content. It follows changes in the
// database; while the database is down it serves its current copy.
import { join } from 'node:path'
import { createLoopComponent } from '../db/loop-component.ts'
import { createHandler, type HandlerDeps } from '../drivers/dns-server/handler.ts'
import { parseListenAddress, printListenAddress } from '../drivers/dns-server/listen-address.ts'
import { startListener, type DnsListener } from '../drivers/dns-server/listener.ts'
import { rcode } from '../net/dns/message.ts'
import type { DomainName, ZoneName } from '../net/dns/name.ts'
import type { Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import { listenBySetting } from '../runtime/listen-problem.ts'
import { open } from '../runtime/secrets.ts'
import type { RequestPeer } from './answer/zone-source.ts'
import { requestTransfer } from './publish/follow.store.ts'
import { compileAccess, type Access } from './serve/access.ts'
import { RepeatedAnswers } from './serve/repeated-answers.ts'
import { createAnswerer } from './serve/answer-query.ts'
import { ServedZones } from './serve/served-zones.ts'
import { readAccess, type StoredStep } from './serve/served.store.ts'
import { untilServed, updateZone } from './update/apply-update.ts'

/** Compares all zones with the rows within this time, also without notifications. */
const intervalMs = 30_000
/** Interval of snapshots: a snapshot of a million records takes 20 seconds of a processor. */
const snapshotMs = 900_000

const nobody: Access = {
  findKey: () => undefined,
  transferView: () => undefined,
  notifiedZone: () => undefined,
}

export type Nameserver = {
  readonly part: Component
  /** The listen address; undefined before the start. */
  readonly address: () => string | undefined
  /** Serves a step that this process has published. */
  readonly applyStep: (step: StoredStep) => void
}

/** Inert until the part is started. */
export function createNameserver(shared: Shared): Nameserver {
  const { config, owner, ring, now, log } = shared
  const zones = new ServedZones({
    db: owner,
    isInMemory: config.dnsAnswer === 'all',
    now,
    snapshot: { file: join(config.dataDir, 'dns', 'zones.snapshot'), ring, log },
  })
  const { loop: accessLoop, access } = createAccessLoop(shared)
  const { zonesLoop, snapshotLoop } = createZoneLoops(shared, zones)
  const handler = createZoneHandler(shared, zones, access)
  let listener: DnsListener | undefined
  let address: string | undefined
  let unsubscribe = (): void => {}
  const part: Component = {
    name: 'nameserver',
    async start() {
      const listen = fromSetting('dns_listen', () => parseListenAddress(config.dnsListen))
      const options = {
        ...listen,
        handler,
        reusePort: config.dnsReusePort,
        onError: (error: unknown) => log.warn({ err: error }, 'DNS request failed'),
      }
      await zones.restore()
      listener = await listenBySetting('dns_listen', () => startListener(options))
      address = printListenAddress({ ...listen, port: listener.port })
      log.info({ dns: address }, 'name server listening')
      accessLoop.start()
      // A deleted key is refused without the delay that changes of zones have.
      unsubscribe = shared.waker.on('dns-access', () => accessLoop.wake())
      zonesLoop.start()
      snapshotLoop.start()
    },
    async stop() {
      unsubscribe()
      await Promise.all([accessLoop.stop(), zonesLoop.stop(), snapshotLoop.stop()])
      await listener?.close()
    },
  }
  return { part, address: () => address, applyStep: (step) => zones.applyStep(step) }
}

/** Who may transfer, update and notify, as last read from the database. */
function createAccessLoop(shared: Shared) {
  const { owner, ring, log } = shared
  let access = nobody
  const openSecret = (name: DomainName, sealed: Buffer): Uint8Array | undefined => {
    try {
      return open(ring, 'tsig-key', sealed, name)
    } catch (error) {
      log.error({ key: name, err: error }, 'TSIG key cannot be opened; its transfers are refused')
      return undefined
    }
  }
  const loop = createLoopComponent(shared, {
    name: 'nameserver-access',
    sends: 'nothing',
    wakeName: 'dns',
    // Every change of a zone wakes it, and few change who may transfer.
    delayMs: 200,
    intervalMs,
    run: async () => void (access = compileAccess(await readAccess(owner), openSecret)),
  })
  return { loop, access: () => access }
}

function createZoneLoops(shared: Shared, zones: ServedZones) {
  let lastFull = -Infinity
  const zonesLoop = createLoopComponent(shared, {
    name: 'nameserver-zones',
    sends: 'nothing',
    wakeName: 'dns-published',
    intervalMs,
    async run() {
      // Zones that were loaded before a restore are newer than the rows.
      if (shared.gate.state === 'closed' && zones.isLoaded) return
      const began = performance.now()
      const isFull = began - lastFull >= intervalMs
      const isFirst = !zones.isLoaded
      await zones.refresh(isFull)
      if (isFull) lastFull = began
      await zones.decodeAll()
      if (isFirst) snapshotLoop.wake()
    },
  })
  const snapshotLoop = createLoopComponent(shared, {
    name: 'nameserver-snapshot',
    sends: 'nothing',
    intervalMs: snapshotMs,
    // Until staff have decided about a restore, the rows may be older than the served zones.
    run: async () => void (shared.gate.state === 'open' && (await zones.save())),
  })
  return { zonesLoop, snapshotLoop }
}

function createZoneHandler(shared: Shared, zones: ServedZones, access: () => Access) {
  const { config, now } = shared
  const isInMemory = config.dnsAnswer === 'all'
  return createHandler({
    zones,
    answer: createAnswerer(isInMemory, zones),
    ...(isInMemory ? { repeated: new RepeatedAnswers(zones, now) } : {}),
    findKey: (name) => access().findKey(name),
    transferView(name, peer) {
      // Followers keep their zones until staff have decided which serials are right.
      if (shared.gate.state !== 'open') return undefined
      const zone = zones.get(name)
      return zone && access().transferView(zone.id, peer)
    },
    update: createUpdater(shared, zones),
    notified: createNotifyReceiver(shared, access),
    now: () => Date.now() / 1000,
  })
}

function createUpdater(
  { postgres, now, log, gate }: Shared,
  zones: ServedZones,
): NonNullable<HandlerDeps['update']> {
  const updateDeps = {
    postgres,
    now,
    onRefused: (zone: string, { address, key }: RequestPeer, reason: unknown) =>
      log.warn({ zone, key, address, err: reason }, 'UPDATE refused'),
  }
  return async (message, peer) => {
    if (gate.state === 'closed') return rcode.SERVFAIL
    const code = await updateZone(updateDeps, message, peer)
    const name = message.questions[0]?.name as ZoneName | undefined
    if (code === rcode.NOERROR && name !== undefined)
      await untilServed(postgres, name, () => zones.get(name)?.serial).catch((error: unknown) =>
        log.warn({ zone: name, err: error }, 'UPDATE answered before it is served'),
      )
    return code
  }
}

/** Asks for a transfer from the primary. */
function createNotifyReceiver(
  { owner, log }: Shared,
  access: () => Access,
): NonNullable<HandlerDeps['notified']> {
  const requested = new Set<number>()
  return (name, peer) => {
    const zoneId = access().notifiedZone(name, peer)
    if (zoneId === undefined) return rcode.NOTAUTH
    // A flood of them is one request: the primary is asked after it was stored.
    if (requested.has(zoneId)) return rcode.NOERROR
    requested.add(zoneId)
    requestTransfer(owner, zoneId)
      .catch((error: unknown) =>
        log.warn({ zone: name, err: error }, 'NOTIFY not stored; the next refresh finds the change'),
      )
      .finally(() => requested.delete(zoneId))
    return rcode.NOERROR
  }
}
