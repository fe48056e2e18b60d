// Wires shield: its operations, and the loops of the reconciler role, one for each scrubber of the platform file, and
// one for changes of lists by time. One process at a time runs each of them.
import { createLedLoop } from '../db/led-loop.ts'
import { createLoopComponent, type LoopComponent } from '../db/loop-component.ts'
import { wake } from '../db/wake.ts'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { createScrubber } from '../drivers/scrubbers.ts'
import type { ListCounting } from '../events/list/event-traffic.ts'
import type { Mounted } from '../http/mount.ts'
import { parsePrefixOrAddress } from '../net/prefix.ts'
import type { ApiShared, Parts, Shared } from '../process/shared.ts'
import { saveDifferences, saveRestoreProblem } from '../restore/restore.store.ts'
import type { Component } from '../runtime/component.ts'
import { createCheckScrubbers, createListCounting, type CapabilitiesOf } from './check-scrubbers.ts'
import { createEstimateHits } from './estimate-hits.ts'
import { refreshStates, expireLists } from './expire-lists.ts'
import { markMitigations } from './mark-mitigations.ts'
import { createMeasureMitigation } from './measure-mitigation.ts'
import { compareScrubber, reconcileScrubber, type ScrubberTarget } from './reconcile.ts'
import { HitsRecorder } from './record-hits.ts'
import { listScrubbers, type ScrubberRow } from './scrubber.store.ts'
import { shieldRoutes } from './shield.routes.ts'

/** Confirmations and expiry are checked this often. */
const upkeepIntervalMs = 5_000
/** Scrubbers are read back and their counters are read this often. */
const scrubberIntervalMs = 10_000
/** Rules of before may concern an event that starts now. */
const mitigationIntervalMs = 10_000
/** Finds new scrubbers within this time if a notification is lost. */
const discoverIntervalMs = 30_000

export function routes(shared: ApiShared): Mounted[] {
  const { config, postgres } = shared
  return [
    ...shieldRoutes({
      ...shared,
      dropPercentMax: config.shieldDropPercentMax,
      checkScrubbers: createCheckScrubbers(postgres, capabilitiesOf(shared)),
      safelist: config.shieldSafelist.map(parsePrefixOrAddress),
    }),
  ]
}

export const parts = (shared: Shared): Parts => ({ reconciler: () => shieldLoops(shared) })

function shieldLoops(shared: Shared): Component[] {
  const { owner, log } = shared
  const measure = createMeasureMitigation(shared.flowStore, () => Date.now())
  return [
    createLedLoop(shared, {
      name: 'shield',
      sends: { gate: shared.gate },
      wakeName: 'shield',
      intervalMs: upkeepIntervalMs,
      async run() {
        const { reverted, emptied, held, failed } = await expireLists(owner)
        if (reverted > 0) log.info({ reverted }, 'shield lists reverted: not confirmed in time')
        if (emptied > 0)
          log.warn({ emptied }, 'shield lists removed: their prefixes no longer belong to the teams')
        if (held > 0) log.warn({ held }, 'removals of shield lists wait for staff')
        for (const error of failed) log.error({ err: error }, 'a shield list was not reverted or removed')
        await refreshStates(owner)
      },
    }),
    createLedLoop(shared, {
      name: 'shield-mitigations',
      sends: 'nothing',
      wakeName: 'shield-applied',
      intervalMs: mitigationIntervalMs,
      async run(signal) {
        const { marked, failed } = await markMitigations(owner, {
          signal,
          measure,
          onMitigated: (seconds) =>
            seconds.forEach((one) => shared.metrics.detectionToRuleSeconds.observe(one)),
        })
        if (marked > 0) log.info({ events: marked }, 'mitigations of events changed')
        for (const error of failed) log.error({ err: error }, 'mitigations of a team not updated')
      },
    }),
    createScrubberLoops(shared),
  ]
}

type ScrubberLoop = { readonly settings: string; readonly part: LoopComponent }

/**
 * Starts a loop for each scrubber, restarts loops with changed settings, and stops removed ones. An invalid scrubber
 * does not stop the others.
 */
function createScrubberLoops(shared: Shared): Component {
  const loops = new Map<string, ScrubberLoop>()
  async function discover(): Promise<void> {
    const rows = new Map((await listScrubbers(shared.owner)).map((row) => [row.name, row]))
    for (const [name, { settings, part }] of loops) {
      const row = rows.get(name)
      if (row && JSON.stringify(row) === settings) continue
      loops.delete(name)
      await part.stop()
    }
    for (const row of rows.values()) if (!loops.has(row.name)) add(row)
  }
  function add(row: ScrubberRow): void {
    try {
      const part = createScrubberLoop(shared, row)
      loops.set(row.name, { settings: JSON.stringify(row), part })
      part.start()
    } catch (error) {
      shared.log.error({ scrubber: row.name, err: error }, 'scrubber has invalid settings')
    }
  }
  const discovery = createLoopComponent(shared, {
    name: 'shield-scrubbers',
    sends: 'nothing',
    wakeName: 'shield',
    intervalMs: discoverIntervalMs,
    run: discover,
  })
  return {
    name: discovery.name,
    start: discovery.start,
    async stop() {
      await discovery.stop()
      await Promise.all([...loops.values()].map(({ part }) => part.stop()))
      loops.clear()
    },
  }
}

function createScrubberLoop(
  shared: Shared,
  { name, driver, prefixes, rulesMax }: ScrubberRow,
): LoopComponent {
  const estimateHits = createEstimateHits(shared.flowStore, (error) =>
    shared.log.debug({ scrubber: name, err: error }, 'hits not estimated'),
  )
  const scrubber = createScrubber(driver, { name, rulesMax, estimateHits })
  const recorder = new HitsRecorder({
    scrubber: name,
    flowStore: shared.flowStore,
    encode: encodeNativeBlock,
    report: (error) => shared.log.debug({ scrubber: name, err: error }, 'hits over time not stored'),
    now: () => Date.now(),
  })
  const loop = createLedLoop(shared, {
    name: `shield:${name}`,
    wakeName: 'shield',
    intervalMs: scrubberIntervalMs,
    sends: {
      gate: shared.gate,
      whileClosed: () => compare(shared, { name, prefixes, scrubber }),
    },
    onStandby: () => recorder.pause(),
    run: () => runScrubber(shared, { name, prefixes, scrubber }, recorder),
  })
  const unwatch = scrubber.watch(() => loop.wake())
  return {
    ...loop,
    async stop() {
      unwatch()
      await loop.stop()
      await scrubber.close()
    },
  }
}

/** Runs while a restore is open. */
async function compare({ owner }: Shared, target: ScrubberTarget): Promise<void> {
  const source = { area: 'shield', source: target.name } as const
  try {
    await saveDifferences(owner, { ...source, differences: await compareScrubber(owner, target) })
  } catch (error) {
    await saveRestoreProblem(owner, { ...source, problem: (error as Error).message })
    throw error
  }
}

async function runScrubber(
  { owner, log }: Shared,
  target: ScrubberTarget,
  recorder: HitsRecorder,
): Promise<void> {
  const { name: scrubber } = target
  try {
    const { applied, removed, opened, refused } = await reconcileScrubber(
      { db: owner, recordHits: (counted) => recorder.record(counted) },
      target,
    )
    if (applied + removed > 0) log.info({ scrubber, applied, removed }, 'shield lists applied')
    for (const [prefix, error] of refused)
      log.error({ scrubber, prefix, err: error }, 'shield list refused by the scrubber')
    if (opened.length > 0) log.warn({ scrubber, approvals: opened }, 'changes of shield lists need approval')
    if (applied + removed > 0) await wake(owner, 'shield-applied')
  } finally {
    await refreshStates(owner)
  }
}

export const listCounting = (shared: Shared): ListCounting =>
  createListCounting(shared.front, capabilitiesOf(shared))

/** Only its settings are read; a key file that this process cannot read is the loop's concern. */
const capabilitiesOf =
  ({ log, flowStore }: Pick<Shared, 'log' | 'flowStore'>): CapabilitiesOf =>
  ({ name, driver, rulesMax }) => {
    const report = (error: unknown) =>
      log.warn({ scrubber: name, err: error }, 'scrubber capabilities unknown')
    try {
      const scrubber = createScrubber(driver, {
        name,
        rulesMax,
        estimateHits: createEstimateHits(flowStore, report),
      })
      const { can } = scrubber
      scrubber.close().catch(report)
      return can
    } catch (error) {
      report(error)
      return undefined
    }
  }
