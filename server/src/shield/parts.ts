// Wires shield: its operations, and the loops of the reconciler role: one for each scrubber of the platform file, under its lease, and two that
// one process runs for all, for changes of lists by time and for the mitigation of events.
import { createLedLoop } from '../db/led-loop.ts'
import { createLoopComponent, type LoopComponent } from '../db/loop-component.ts'
import { wake } from '../db/wake.ts'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { createScrubber } from '../drivers/scrubbers.ts'
import type { ListCounting } from '../events/list/event-traffic.ts'
import type { Mounted } from '../http/mount.ts'
import { parsePrefixOrAddress } from '../net/prefix.ts'
import type { ApiShared, Parts, Shared } from '../process/shared.ts'
import { LeaseLost, TargetLock, type Lease } from '../reconcile/lease.ts'
import { Targets } from '../reconcile/targets.ts'
import { saveDifferences, saveRestoreProblem } from '../restore/restore.store.ts'
import type { Component } from '../runtime/component.ts'
import { createCheckScrubbers, createListCounting, type CapabilitiesOf } from './check-scrubbers.ts'
import { createEstimateHits } from './estimate-hits.ts'
import { refreshStates, expireLists } from './expire-lists.ts'
import { markMitigations } from './mark-mitigations.ts'
import { createMeasureMitigation } from './measure-mitigation.ts'
import { compareScrubber, reconcileScrubber, type ScrubberTarget } from './reconcile.ts'
import { HitsRecorder } from './record-hits.ts'
import { listScrubbers, scrubberTarget, type ScrubberRow } from './scrubber.store.ts'
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
      listCounting: listCounting(shared),
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

/** Starts a loop for each scrubber. */
function createScrubberLoops(shared: Shared): Component {
  const loops = new Targets<ScrubberRow, LoopComponent>({
    create: (row) => createScrubberLoop(shared, row),
    onInvalid: ({ name: scrubber }, error) =>
      shared.log.error({ scrubber, err: error }, 'scrubber has invalid settings'),
  })
  const discovery = createLoopComponent(shared, {
    name: 'shield-scrubbers',
    sends: 'nothing',
    wakeName: 'shield',
    intervalMs: discoverIntervalMs,
    run: async () => loops.update(await listScrubbers(shared.owner)),
  })
  return {
    ...discovery,
    async stop() {
      await discovery.stop()
      await loops.stop()
    },
  }
}

function createScrubberLoop(shared: Shared, row: ScrubberRow): LoopComponent {
  const { name, driver, prefixes, rulesMax } = row
  const estimateHits = createEstimateHits(shared.flowStore, (error) =>
    shared.log.debug({ scrubber: name, err: error }, 'hits not estimated'),
  )
  const scrubber = createScrubber(driver, { name, rulesMax, estimateHits })
  const target = { name, prefixes, scrubber }
  const recorder = new HitsRecorder({
    scrubber: name,
    flowStore: shared.flowStore,
    encode: encodeNativeBlock,
    report: (error) => shared.log.debug({ scrubber: name, err: error }, 'hits over time not stored'),
    now: () => Date.now(),
  })
  const lock = new TargetLock(shared.postgres, scrubberTarget(row), () => loop.wake())
  /** Calls `work` if this process holds the lock. */
  async function underLease(work: (lease: Lease) => Promise<void>): Promise<void> {
    let lease: Lease | undefined
    try {
      lease = await lock.hold()
    } finally {
      if (!lease) recorder.pause()
    }
    try {
      if (lease) await work(lease)
    } catch (error) {
      // Its connection may live: the next run takes the lock with a new epoch.
      if (error instanceof LeaseLost) await lock.release()
      throw error
    }
  }
  const loop: LoopComponent = createLoopComponent(shared, {
    name: `shield:${name}`,
    wakeName: 'shield',
    intervalMs: scrubberIntervalMs,
    sends: { gate: shared.gate, whileClosed: () => underLease(() => compare(shared, target)) },
    run: () => underLease((lease) => runScrubber(shared, lease, target, recorder)),
  })
  let unwatch = (): void => {}
  return {
    ...loop,
    start() {
      unwatch = scrubber.watch(() => loop.wake())
      loop.start()
    },
    async stop() {
      unwatch()
      await loop.stop()
      recorder.pause()
      await lock.release()
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
  lease: Lease,
  target: ScrubberTarget,
  recorder: HitsRecorder,
): Promise<void> {
  const { name: scrubber } = target
  try {
    const { applied, removed, opened, refused } = await reconcileScrubber(
      {
        db: owner,
        recordHits: (counted) => recorder.record(counted),
        elapsedMs: () => performance.now(),
      },
      lease,
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
