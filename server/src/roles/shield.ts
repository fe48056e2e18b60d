// The loops of shield in the reconciler role: one for each scrubber of the platform file, and one for what happens to lists by time. One
// process at a time runs each of them.
import type { ListCounting } from '../events/list/event-traffic.ts'
import { createEstimateHits } from '../shield/estimate-hits.ts'
import { refusalsOfList } from '../shield/check-list.ts'
import { createMeasureMitigation } from '../shield/measure-mitigation.ts'
import { HitsRecorder } from '../shield/record-hits.ts'
import { markMitigations } from '../shield/mark-mitigations.ts'
import { compareScrubber, reconcileScrubber, type ScrubberTarget } from '../shield/reconcile.ts'
import { listInstalledSizes, listScrubbers, type ScrubberRow } from '../shield/scrubber.store.ts'
import type { Scrubber } from '../shield/scrubber.ts'
import { listNested } from '../shield/shield-list.store.ts'
import type { CheckScrubbers } from '../shield/update-shield.ts'
import { refreshStates, expireLists } from '../shield/expire-lists.ts'
import { Leadership } from '../db/leadership.ts'
import { wake } from '../db/wake.ts'
import { encodeNativeBlock } from '../drivers/clickhouse/native-block.ts'
import { createScrubber } from '../drivers/scrubbers.ts'
import { covers, type Prefix } from '../net/prefix.ts'
import type { Component } from '../runtime/component.ts'
import { saveDifferences, saveProblem } from '../restore/restore.store.ts'
import { createLedLoop } from './dns-publish.ts'
import { createLoopComponent, type LoopComponent } from './loop-component.ts'
import type { Shared } from './shared.ts'

/** Confirmations and expiry are checked this often. */
const upkeepIntervalMs = 5_000
/** Scrubbers are read back and their counters are read this often. */
const scrubberIntervalMs = 10_000
/** Rules of before may concern an event that starts now. */
const mitigationIntervalMs = 10_000
/** Finds new scrubbers within this time if a notification is lost. */
const discoverIntervalMs = 30_000

export function shieldParts(shared: Shared): Component[] {
  const { postgres, log } = shared
  const measure = createMeasureMitigation(shared.flowStore, () => Date.now())
  return [
    createLedLoop(shared, {
      name: 'shield',
      sends: { gate: shared.gate },
      wakeName: 'shield',
      intervalMs: upkeepIntervalMs,
      async run() {
        const { reverted, emptied, held, failed } = await expireLists(postgres.owner)
        if (reverted > 0) log.info({ reverted }, 'shield lists reverted: not confirmed in time')
        if (emptied > 0) log.warn({ emptied }, 'shield lists removed: the teams no longer hold the prefixes')
        if (held > 0) log.warn({ held }, 'removals of shield lists wait for staff')
        for (const error of failed) log.error({ err: error }, 'a shield list was not reverted or removed')
        await refreshStates(postgres.owner)
      },
    }),
    createLedLoop(shared, {
      name: 'shield-mitigations',
      sends: 'nothing',
      wakeName: 'shield-applied',
      intervalMs: mitigationIntervalMs,
      async run(signal) {
        const { marked, failed } = await markMitigations(postgres.owner, {
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

/** Starts a loop for each scrubber, restarts those with changed settings, and stops removed ones. An invalid one stops no other. */
function createScrubberLoops(shared: Shared): Component {
  const loops = new Map<string, ScrubberLoop>()
  async function discover(): Promise<void> {
    const rows = new Map((await listScrubbers(shared.postgres.owner)).map((row) => [row.name, row]))
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
  const leadership = new Leadership(shared.postgres, `shield:${name}`)
  const loop = createLoopComponent(shared, {
    name: `shield:${name}`,
    wakeName: 'shield',
    intervalMs: scrubberIntervalMs,
    sends: {
      gate: shared.gate,
      async whileClosed() {
        if (await leadership.hold()) await compare(shared, { name, prefixes, scrubber })
      },
    },
    async run() {
      if (await leadership.hold()) await runScrubber(shared, { name, prefixes, scrubber }, recorder)
      else recorder.pause()
    },
  })
  const unwatch = scrubber.watch(() => loop.wake())
  return {
    ...loop,
    async stop() {
      unwatch()
      await loop.stop()
      await leadership.release()
      await scrubber.close()
    },
  }
}

/** While a restore is open. */
async function compare({ postgres: { owner } }: Shared, target: ScrubberTarget): Promise<void> {
  const source = { area: 'shield', source: target.name } as const
  try {
    await saveDifferences(owner, { ...source, differences: await compareScrubber(owner, target) })
  } catch (error) {
    await saveProblem(owner, { ...source, problem: (error as Error).message })
    throw error
  }
}

async function runScrubber(
  { postgres, log }: Shared,
  target: ScrubberTarget,
  recorder: HitsRecorder,
): Promise<void> {
  const { name: scrubber } = target
  try {
    const { applied, removed, opened, refused } = await reconcileScrubber(
      { db: postgres.owner, recordHits: (counted) => recorder.record(counted) },
      target,
    )
    if (applied + removed > 0) log.info({ scrubber, applied, removed }, 'shield lists applied')
    for (const [prefix, error] of refused)
      log.error({ scrubber, prefix, err: error }, 'the scrubber refused a shield list')
    if (opened.length > 0) log.warn({ scrubber, approvals: opened }, 'changes of shield lists need approval')
    if (applied + removed > 0) await wake(postgres.owner, 'shield-applied')
  } finally {
    await refreshStates(postgres.owner)
  }
}

type CapabilityDeps = Pick<Shared, 'postgres' | 'log' | 'flowStore'>

/** Returns what the scrubbers of a prefix cannot apply, by what they can do: none of them is called. */
export const createCheckScrubbers =
  (deps: CapabilityDeps): CheckScrubbers =>
  async (teamId, prefix, rules) => {
    const { front } = deps.postgres
    const nested = await deps.postgres.inTeam(teamId, (trx) => listNested(trx, teamId, prefix))
    const rows = await listScrubbers(front, prefix)
    const refusals = await Promise.all(
      rows.map(async (row) => {
        const can = capabilitiesOf(deps, row)
        if (!can) return []
        const others = nested.filter((list) => getsList(row, list.prefix))
        return refusalsOfList({ prefix, rules }, others, can, await listInstalledSizes(front, row), row.name)
      }),
    )
    return { scrubbers: rows.length, refusals: refusals.flat() }
  }

/** As `listScrubbers` selects. */
const getsList = ({ prefixes }: ScrubberRow, prefix: Prefix): boolean =>
  prefixes.length === 0 || prefixes.some((one) => covers(one, prefix))

/** Returns whether each scrubber that gets a list of one of the prefixes counts hits. One with unknown settings counts as one that does not. */
export const createListCounting =
  (deps: CapabilityDeps): ListCounting =>
  async (prefixes) => {
    const rows = new Map<string, ScrubberRow>()
    for (const prefix of prefixes)
      for (const row of await listScrubbers(deps.postgres.front, prefix)) rows.set(row.name, row)
    return Array.from(rows.values(), (row) => capabilitiesOf(deps, row)?.hits ?? false)
  }

/** Only its settings are read; a key file that this process cannot read is the loop's concern. */
function capabilitiesOf(
  { log, flowStore }: CapabilityDeps,
  { name, driver, rulesMax }: ScrubberRow,
): Scrubber['can'] | undefined {
  const report = (error: unknown) =>
    log.warn({ scrubber: name, err: error }, 'capabilities of the scrubber not known')
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
