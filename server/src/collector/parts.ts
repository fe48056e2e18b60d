// Wires the receiving of flows, a part of the collector role. Its threads are started here, since they connect drivers.
import { join } from 'node:path'
import { deleteOldRates } from './detector/shared-attack.store.ts'
import { createSilentCheck, silentCheckMs } from './detector/silent-attacks.ts'
import { updateAttackOctets } from '../flow/attack-octets.ts'
import { checkCounters, lastClosedHour } from './counter-check.ts'
import { FlowCollector } from './collector.ts'
import { rollUpPeers } from '../flow/peer-rollup.ts'
import type { ListenAddress } from '../flow/datagram-source.ts'
import { createLedLoop } from '../db/led-loop.ts'
import type { Component } from '../runtime/component.ts'
import { readOnCollect } from '../runtime/metrics.ts'
import { createLoopComponent } from '../db/loop-component.ts'
import type { Parts, Shared } from '../process/shared.ts'
import { parseListenAddress } from '../drivers/dns-server/listen-address.ts'
import type { Config } from '../runtime/config.ts'

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
  /** Where it receives, in the order of netflow_listen and sflow_listen. */
  readonly addresses: () => readonly ListenAddress[]
}

export function parts(shared: Shared): FlowParts {
  const { config, postgres, owner, log, metrics, flowStore, now } = shared
  const collector = new FlowCollector({
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
    onTargets: () => rates.wake(),
    onPackets: () => packets.wake(),
    threads: {
      receive: new URL('../process/flow-receive-thread.ts', import.meta.url),
      batch: new URL('../process/flow-batch-thread.ts', import.meta.url),
    },
  })
  readOnCollect(metrics.flowSpoolFiles, () => collector.reportSpool())
  const rates = createLoopComponent(shared, {
    name: 'flow-rates',
    sends: 'nothing',
    intervalMs: ratesMs,
    run: () => collector.exchangeRates(),
  })
  const packets = createLoopComponent(shared, {
    name: 'flow-packets',
    sends: 'nothing',
    intervalMs: packetsMs,
    run: () => collector.refreshPackets(now()),
  })
  /** A process that never receives starts no ClickHouse for it. */
  const canLead = (): boolean => collector.addresses.length > 0
  let checkedHour = 0
  const endSilentAttacks = createSilentCheck(postgres, () => collector.reports.waiting.files > 0)
  const loops = [
    createLoopComponent(shared, {
      name: 'flow-listen',
      sends: 'nothing',
      intervalMs: listenMs,
      run: async () => void (await collector.listen()),
    }),
    createLoopComponent(shared, {
      name: 'flow-ownership',
      sends: 'nothing',
      wakeName: 'ownership',
      intervalMs: ownershipMs,
      run: () => collector.refreshOwnership(),
    }),
    createLoopComponent(shared, {
      name: 'flow-exporters',
      sends: 'nothing',
      wakeName: 'flows',
      intervalMs: exportersMs,
      run: () => collector.refreshExporters(),
    }),
    rates,
    packets,
    createLoopComponent(shared, {
      name: 'flow-silent-attacks',
      sends: 'nothing',
      intervalMs: silentCheckMs,
      async run() {
        const count = await endSilentAttacks(now())
        await deleteOldRates(owner)
        if (count > 0) log.warn({ count }, 'attacks ended that no collector reports any more')
      },
    }),
    createLoopComponent(shared, {
      name: 'flow-detector',
      sends: 'nothing',
      wakeName: 'flows',
      intervalMs: exportersMs,
      run: () => collector.refreshDetector(),
    }),
    createLedLoop(shared, {
      name: 'flow-peers',
      canLead,
      sends: 'nothing',
      intervalMs: peersMs,
      async run(signal) {
        const hours = await rollUpPeers(flowStore, Date.now() / 1000, signal)
        if (hours > 0) log.info({ hours }, 'flows of closed hours added up by AS and country')
      },
    }),
    createLedLoop(shared, {
      name: 'flow-attack-octets',
      canLead,
      sends: 'nothing',
      intervalMs: peersMs,
      async run(signal) {
        const deps = { db: owner, flowStore, flowDays: config.flowRetentionDays }
        await updateAttackOctets(deps, now(), signal)
      },
    }),
    createLedLoop(shared, {
      name: 'flow-counter-check',
      canLead,
      sends: 'nothing',
      intervalMs: peersMs,
      async run() {
        const hour = lastClosedHour(now())
        if (hour !== checkedHour && (await checkCounters({ db: owner, flowStore }, hour))) checkedHour = hour
      },
    }),
    createLoopComponent(shared, {
      name: 'flow-delay',
      sends: 'nothing',
      intervalMs: delayMs,
      run: () => collector.saveDelay(),
    }),
    createLoopComponent(shared, {
      name: 'flow-counters',
      sends: 'nothing',
      intervalMs: countersMs,
      run: () => collector.saveCounterSamples(),
    }),
    createLoopComponent(shared, {
      name: 'flow-learned',
      sends: 'nothing',
      intervalMs: learnedMs,
      run: () => collector.saveLearned(),
    }),
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

/** Parses an address and a port; undefined for `off`. Throws an Error with the expected form. */
export function parseFlowAddress(text: string): ListenAddress | undefined {
  if (text === 'off') return undefined
  const { host, port } = parseListenAddress(text)
  return { address: host, port }
}

/** The addresses of both settings, without those that are off. */
export function flowAddresses({ netflowListen, sflowListen }: Pick<Config, 'netflowListen' | 'sflowListen'>) {
  const parsed = [netflowListen, sflowListen].map(parseFlowAddress)
  return parsed.filter((address) => address !== undefined)
}
