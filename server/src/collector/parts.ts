// Wires the receiving of flows, a part of the collector role. Its threads are started here, since they connect drivers.
import { join } from 'node:path'
import { createLedLoop } from '../db/led-loop.ts'
import { createLoopComponent, type LoopSettings } from '../db/loop-component.ts'
import type { WakeName } from '../db/wake.ts'
import { parseListenAddress } from '../drivers/dns-server/listen-address.ts'
import { updateAttackOctets } from '../flow/attack-octets.ts'
import type { ListenAddress } from '../flow/datagram-source.ts'
import { rollUpPeers } from '../flow/peer-rollup.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { readOnCollect } from '../runtime/metrics.ts'
import { FlowCollector, type FlowCollectorOptions } from './collector.ts'
import { checkCounters, lastClosedHour } from './counter-check.ts'
import { deleteOldRates } from './detector/shared-attack.store.ts'
import { createSilentCheck, silentCheckMs } from './detector/silent-attacks.ts'

/** Whether it receives is looked at in this interval: an address may become free, a thread may have ended. */
const listenMs = 10_000
const ownershipMs = 10_000
const exportersMs = 30_000
const learnedMs = 5_000
const countersMs = 10_000
const peersMs = 600_000
const ratesMs = 2_000
const packetsMs = 15_000
const delayMs = 5_000

export type FlowParts = Parts & {
  /** The listen addresses, in the order of netflow_listen and sflow_listen. */
  readonly addresses: () => readonly ListenAddress[]
}

export function parts(shared: Shared): FlowParts {
  const { config, postgres, owner, log, metrics, flowStore, now } = shared
  const collector = createCollector(shared, {
    onTargets: () => rates.wake(),
    onPackets: () => packets.wake(),
  })
  readOnCollect(metrics.flowSpoolFiles, () => collector.reportSpool())
  const loop = (name: string, intervalMs: number, run: LoopSettings['run'], wakeName?: WakeName) =>
    createLoopComponent(shared, {
      name,
      sends: 'nothing',
      intervalMs,
      run,
      ...(wakeName ? { wakeName } : {}),
    })
  /** For rows of closed hours. A process that never receives starts no ClickHouse for them. */
  const hourly = (name: string, run: LoopSettings['run']) =>
    createLedLoop(shared, {
      name,
      sends: 'nothing',
      intervalMs: peersMs,
      canLead: () => collector.addresses.length > 0,
      run,
    })
  const rates = loop('flow-rates', ratesMs, () => collector.exchangeRates())
  const packets = loop('flow-packets', packetsMs, () => collector.refreshPackets(now()))
  let checkedHour = 0
  const endSilentAttacks = createSilentCheck(postgres, () => collector.reports.waiting.files > 0)
  const loops = [
    loop('flow-listen', listenMs, async () => void (await collector.listen())),
    loop('flow-ownership', ownershipMs, () => collector.refreshOwnership(), 'ownership'),
    loop('flow-exporters', exportersMs, () => collector.refreshExporters(), 'flows'),
    rates,
    packets,
    loop('flow-silent-attacks', silentCheckMs, async () => {
      const count = await endSilentAttacks(now())
      await deleteOldRates(owner)
      if (count > 0) log.warn({ count }, 'silent attacks ended')
    }),
    loop('flow-detector', exportersMs, () => collector.refreshDetector(), 'flows'),
    hourly('flow-peers', async (signal) => {
      const hours = await rollUpPeers(flowStore, Date.now() / 1000, signal)
      if (hours > 0) log.info({ hours }, 'flows of closed hours added up by AS and country')
    }),
    hourly('flow-attack-octets', async (signal) => {
      const deps = { db: owner, flowStore, flowDays: config.flowRetentionDays }
      await updateAttackOctets(deps, now(), signal)
    }),
    hourly('flow-counter-check', async () => {
      const hour = lastClosedHour(now())
      if (hour !== checkedHour && (await checkCounters({ db: owner, flowStore }, hour))) checkedHour = hour
    }),
    loop('flow-delay', delayMs, () => collector.saveDelay()),
    loop('flow-counters', countersMs, () => collector.saveCounterSamples()),
    loop('flow-learned', learnedMs, () => collector.saveLearned()),
  ]
  const receiving: Component = {
    name: 'flows',
    async start() {
      // The database may be down: the loop tries again.
      await collector
        .listen()
        .catch((error: unknown) => log.warn({ err: error }, 'flows are not received yet'))
    },
    stop: () => collector.stop(),
  }
  return { collector: () => [receiving, ...loops], addresses: () => collector.addresses }
}

function createCollector(
  { config, postgres, flowStore, log, metrics }: Shared,
  wakers: Pick<FlowCollectorOptions, 'onTargets' | 'onPackets'>,
): FlowCollector {
  return new FlowCollector({
    ...wakers,
    postgres,
    store: flowStore,
    log,
    metrics,
    addresses: flowAddresses(config),
    spoolDir: join(config.dataDir, 'flows', 'spool'),
    spoolBytesMax: config.flowSpoolBytes,
    addressFiles: config.flowAddressFiles,
    ownAsn: config.providerAsn ?? 0,
    detectorRows: 2 ** Math.ceil(Math.log2(config.detectorRows)),
    threads: {
      receive: new URL('../process/flow-receive-thread.ts', import.meta.url),
      batch: new URL('../process/flow-batch-thread.ts', import.meta.url),
    },
  })
}

/** Parses an address and a port; undefined for `off`. Throws an Error with the expected form. */
export function parseFlowAddress(text: string): ListenAddress | undefined {
  if (text === 'off') return undefined
  const { host, port } = parseListenAddress(text)
  return { address: host, port }
}

/** The addresses of both settings, without disabled ones. */
function flowAddresses({ netflowListen, sflowListen }: Pick<Config, 'netflowListen' | 'sflowListen'>) {
  const parsed = [netflowListen, sflowListen].map(parseFlowAddress)
  return parsed.filter((address) => address !== undefined)
}
