// The part of the collector role that receives flows and stores them. Its threads are started here, since they connect drivers.
import { join } from 'node:path'
import { DetectionReporter } from '../analysis/detector/report-detections.ts'
import { FlowCollector } from '../analysis/flow/collect/collector.ts'
import type { ListenAddress } from '../analysis/flow/datagram-source.ts'
import type { Component } from '../runtime/component.ts'
import { readOnCollect } from '../runtime/metrics.ts'
import { flowAddresses } from './flow-addresses.ts'
import { createLoopComponent } from './loop-component.ts'
import type { Shared } from './shared.ts'

/** Whether it receives is looked at in this interval: an address may become free, a thread may have ended. */
const listenMs = 10_000
const ownershipMs = 10_000
const exportersMs = 30_000
const learnedMs = 5_000
const detectorMs = 10_000
const silentMs = 60_000
/** Reports that could not be stored are tried again after this time. */
const detectionsMs = 5_000

export type FlowsPart = {
  readonly parts: readonly Component[]
  /** Where it receives, in the order of netflow_listen and sflow_listen. */
  readonly addresses: () => readonly ListenAddress[]
}

export function createFlows(shared: Shared): FlowsPart {
  const { config, postgres, log, metrics, flowStore } = shared
  const reporter = new DetectionReporter({
    postgres,
    store: flowStore,
    onBaselineFailure: (error) =>
      log.warn({ err: error }, 'baselines of the detector not read; the former ones stay in use'),
  })
  const detections = createLoopComponent(shared, {
    name: 'flow-detections',
    intervalMs: detectionsMs,
    async run() {
      const count = await reporter.deliver()
      if (count > 0) log.info({ count }, 'attacks reported')
    },
  })
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
    threads: {
      receive: new URL('flow-receive-thread.ts', import.meta.url),
      batch: new URL('flow-batch-thread.ts', import.meta.url),
    },
    onDetections(reports) {
      reporter.add(reports)
      detections.wake()
    },
  })
  readOnCollect(metrics.flowSpoolFiles, () => collector.reportSpool())
  const loops = [
    createLoopComponent(shared, {
      name: 'flow-listen',
      intervalMs: listenMs,
      run: async () => void (await collector.listen()),
    }),
    createLoopComponent(shared, {
      name: 'flow-ownership',
      wakeName: 'ownership',
      intervalMs: ownershipMs,
      run: () => collector.refreshOwnership(),
    }),
    createLoopComponent(shared, {
      name: 'flow-exporters',
      wakeName: 'flows',
      intervalMs: exportersMs,
      run: () => collector.refreshExporters(),
    }),
    createLoopComponent(shared, {
      name: 'flow-learned',
      intervalMs: learnedMs,
      run: () => collector.saveLearned(),
    }),
    createLoopComponent(shared, {
      name: 'flow-detector',
      intervalMs: detectorMs,
      run: async () => collector.setDetectorRules(await reporter.readRules(new Date())),
    }),
    createLoopComponent(shared, {
      name: 'flow-silent-attacks',
      intervalMs: silentMs,
      async run() {
        const count = await reporter.endSilent(new Date())
        if (count > 0) log.warn({ count }, 'attacks ended that no collector reports any more')
      },
    }),
    detections,
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
  return { parts: [receiving, ...loops], addresses: () => collector.addresses }
}
