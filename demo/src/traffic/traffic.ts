// The live traffic of the demo: its exporters send datagrams over UDP on loopback to the collector of this process. Never outside of the demo,
// and light: a few hundred flows every five seconds.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListenAddress } from '../../../server/src/flow/datagram-source.ts'
import type { FlowStore } from '../../../server/src/flow/flow-store.ts'
import type { Postgres } from '../../../server/src/db/postgres.ts'
import { liveTraffic } from '../../../server/src/drivers/sandbox-device/live-traffic.ts'
import type { Log } from '../../../server/src/runtime/log.ts'
import { listAttacks } from './attacks.store.ts'
import { createExportState, encodeIpfix, encodeNetflow5, encodeSflow, type ExportState } from './datagrams.ts'
import { runningScrubbers } from '../../../server/src/drivers/sandbox-scrubber/driver.ts'
import { arriving, octetChanges, type Forward } from './forward.ts'
import { createHistoryWriter, findStored, historyStart, missingSpans } from './flow-history.ts'
import {
  attackFlows,
  demoExporters,
  flowsBetween,
  wordsOf,
  type DemoAttack,
  type DemoExporter,
  type DemoFlow,
} from './model.ts'
import { listDemoRoutes, type DemoRoutes } from './routes.store.ts'

export type DemoTrafficDeps = {
  readonly postgres: Postgres
  readonly store: FlowStore
  readonly addressFiles: readonly string[]
  /** The listen addresses of the collector; empty while it is stopped. */
  readonly addresses: () => readonly ListenAddress[]
  readonly log: Log
  /** The share of the past that is written. */
  readonly onProgress: (share: number) => void
}

/**
 * Ticks begin at multiples of it and are sent a second before they end, since flows have the time at which they are received: each minute of a
 * chart has the flows of 60 seconds.
 */
const tickMs = 5_000
const sentAfterMs = tickMs - 1_000
const pauseMaxMs = 60_000
/** Pause until the next check whether the collector listens. */
const openingMs = 200
const tickBefore = (ms: number): number => Math.floor(ms / tickMs) * tickMs
const perApplication = 4
const perAttack = 10
const attacksMs = 30_000

/** The attack that begins while someone watches. */
const attackAfterMs = 60_000
const attackMs = 15 * 60_000
const attackEveryMs = 45 * 60_000

/** Runs until the signal: writes the missing past, and sends. */
export async function runDemoTraffic(deps: DemoTrafficDeps, signal: AbortSignal): Promise<void> {
  const { postgres, store } = deps
  const startedMs = tickBefore(Date.now())
  const stored = await findStored(store)
  await eventsAreThere(postgres, signal)
  const attacks = await listAttacks(postgres.owner, new Date(historyStart(startedMs)))
  const write = await createHistoryWriter({ ...deps, attacks, nowMs: startedMs })
  const [newest, ...older] = missingSpans(startedMs, stored)
  if (newest !== undefined) await write(newest)
  const sending = send(deps, startedMs, signal)
  for (const [at, span] of older.entries()) {
    if (signal.aborted) break
    await write(span)
    deps.onProgress((at + 1) / older.length)
  }
  deps.onProgress(1)
  await sending
}

/** The recorded attacks have become events: their flows go into the past. */
async function eventsAreThere({ owner }: Postgres, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < 60 && !signal.aborted; tries++) {
    const { n } = await owner
      .selectFrom('deliveries')
      .select(({ fn }) => fn.countAll<string>().as('n'))
      .where('state', '=', 'new')
      .executeTakeFirstOrThrow()
    if (Number(n) === 0) return
    await sleep(500, undefined, { signal }).catch(() => {})
  }
}

async function send(deps: DemoTrafficDeps, startedMs: number, signal: AbortSignal): Promise<void> {
  const { postgres, addresses, log } = deps
  const senders = await Promise.all(demoExporters.map((exporter) => createSender(exporter)))
  let attacks: readonly DemoAttack[] = []
  let routes: DemoRoutes | undefined
  let [readMs, fromMs] = [-Infinity, startedMs]
  try {
    while (!signal.aborted) {
      const nowMs = Date.now()
      if (nowMs - readMs >= attacksMs) {
        attacks = await listAttacks(postgres.owner, new Date(nowMs)).catch(() => attacks)
        readMs = nowMs
      }
      routes = await listDemoRoutes(postgres.owner).catch(() => routes)
      const [netflow, sflow = netflow] = addresses()
      if (!netflow || !sflow || !routes) {
        await sleep(openingMs, undefined, { signal }).catch(() => {})
        continue
      }
      // A pause of the machine is not made up for.
      fromMs = Math.max(fromMs, tickBefore(nowMs - pauseMaxMs))
      for (; fromMs + sentAfterMs <= nowMs; fromMs += tickMs) {
        const untilMs = fromMs + tickMs
        const usual = flowsBetween(fromMs, untilMs, perApplication)
        const attacking = [...attacks, liveAttack(startedMs, nowMs)].flatMap((attack) =>
          attackFlows(attack, fromMs, untilMs, perAttack),
        )
        const scrubbers = runningScrubbers().map(
          (one): Forward =>
            (passing, seconds) =>
              one.forward(passing, seconds),
        )
        const flows = arriving([...usual, ...attacking], routes, scrubbers, tickMs / 1000)
        liveTraffic.add(untilMs, octetChanges(usual, flows))
        for (const [index, sender] of senders.entries()) {
          const ofExporter = flows.filter(({ exporter }) => exporter === index)
          sender.send(ofExporter, sender.exporter.protocol === 'sflow' ? sflow : netflow, nowMs)
        }
      }
      await sleep(Math.max(fromMs + sentAfterMs - Date.now(), 0), undefined, { signal }).catch(() => {})
    }
  } catch (error) {
    log.warn({ err: error }, 'the traffic of the demo ended')
  } finally {
    liveTraffic.end()
    for (const { socket } of senders) socket.close()
  }
}

/** DNS reflection on a game server. */
function liveAttack(startedMs: number, nowMs: number): DemoAttack {
  const round = Math.max(0, Math.floor((nowMs - startedMs - attackAfterMs) / attackEveryMs))
  const startMs = startedMs + attackAfterMs + round * attackEveryMs
  return {
    target: wordsOf('203.0.113.77'),
    classification: 'udp.amplification.dns',
    bps: 6_400_000_000,
    pps: 610_000,
    startMs,
    endMs: startMs + attackMs,
  }
}

type Sender = {
  readonly exporter: DemoExporter
  readonly socket: Socket
  send(flows: readonly DemoFlow[], to: ListenAddress, nowMs: number): void
}

async function createSender(exporter: DemoExporter): Promise<Sender> {
  const socket = await bind(exporter.address)
  const state = createExportState(Date.now())
  return {
    exporter,
    socket,
    send(flows, { address, port }, nowMs) {
      const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address
      for (const datagram of encode(exporter, flows, state, nowMs))
        socket.send(datagram, port, host, () => {})
    },
  }
}

function encode(
  { protocol, address, samplingRate }: DemoExporter,
  flows: readonly DemoFlow[],
  state: ExportState,
  nowMs: number,
): Buffer[] {
  if (protocol === 'ipfix') return encodeIpfix(flows, state, nowMs)
  if (protocol === 'sflow') return encodeSflow(flows, address, samplingRate, state, nowMs)
  return encodeNetflow5(flows, samplingRate, state, nowMs)
}

/** Linux has all of 127.0.0.0/8; elsewhere all exporters are 127.0.0.1. */
async function bind(address: string): Promise<Socket> {
  for (const host of [address, '127.0.0.1']) {
    const socket = createSocket('udp4')
    socket.bind(0, host)
    try {
      await once(socket, 'listening')
      socket.on('error', () => {})
      return socket
    } catch {
      socket.close()
    }
  }
  throw new Error('no UDP socket on 127.0.0.1')
}
