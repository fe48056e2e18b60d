// Wires the import from NetBox: a loop of the reconciler role on one process, if it is configured. Many deletions need an approval, and
// everything of that plan waits with them.
import { serviceTypes } from '@pharos/contract/service'
import { endApproval, findDecision, planApprovals } from '../approval/plan-approvals.ts'
import { Leadership } from '../db/leadership.ts'
import type { Db } from '../db/postgres.ts'
import { createNetboxClient } from '../drivers/netbox/client.ts'
import { parseDeviceFilter, parseNetboxUrl, parseServiceTypes } from '../drivers/netbox/mapping.ts'
import { applyPlatform } from '../platform/engine/apply.ts'
import { importSlot, planDeletions, platformApprovals } from '../platform/approval-area.ts'
import { describeHeld } from '../platform/engine/guard.ts'
import { prepareImport, type NetboxSource } from '../platform/import-netbox.ts'
import { saveImport } from '../platform/engine/import-state.store.ts'
import { platformKinds } from '../platform/kinds/index.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import { createLoop } from '../runtime/loop.ts'
import type { Shared } from './shared.ts'

/** Undefined if no NetBox is configured. */
export function netboxOf(config: Config): NetboxSource | undefined {
  const { netboxUrl, netboxToken } = config
  if (netboxUrl === null || netboxToken === null) return undefined
  return {
    client: createNetboxClient({ url: parseNetboxUrl(netboxUrl), token: netboxToken }),
    mapping: {
      deviceFilter: parseDeviceFilter(config.netboxDeviceFilter),
      portTag: config.netboxPortTag,
      countryField: config.netboxCountryField,
      circuitField: config.netboxCircuitField,
      portIdField: config.netboxPortIdField,
      serviceTypes: parseServiceTypes(config.netboxServiceTypes, serviceTypes),
    },
  }
}

const intervalMs = 300_000

export function netboxParts({ config, postgres, waker, log, metrics }: Shared): Component[] {
  const source = netboxOf(config)
  if (!source) return []
  const leadership = new Leadership(postgres, 'sync-inventory')
  const loop = createLoop({
    name: 'sync-inventory',
    sends: 'nothing',
    intervalMs,
    timeoutMs: intervalMs,
    run: async (signal) => {
      if (!(await leadership.hold())) return
      await syncInventory({ db: postgres.owner, source, log }, signal)
    },
    log,
    metrics,
  })
  let unsubscribe = () => {}
  return [
    {
      name: 'sync-inventory',
      start() {
        unsubscribe = waker.on('imports', () => loop.wake())
        loop.start()
      },
      stop: async () => {
        unsubscribe()
        await loop.stop()
        await leadership.release()
      },
    },
  ]
}

export type SyncDeps = {
  readonly db: Db
  readonly source: NetboxSource
  readonly log: Pick<Log, 'info' | 'error'>
}

/**
 * One run: plans with pruning, and applies the plan unless it deletes too much. Deletions that staff rejected are left out; all others wait
 * for them. Saves the result, and throws if it failed.
 */
export async function syncInventory(deps: SyncDeps, signal: AbortSignal): Promise<void> {
  const { db, source, log } = deps
  try {
    const planned = await prepareImport(db, source, { prune: true, enforce: false }, signal)
    const approval =
      planned.held.length > 0 ? planDeletions(platformKinds, 'NetBox', planned.held) : undefined
    const decision = approval && (await findDecision(db, platformApprovals, approval.evidence))
    const prepared =
      decision === 'rejected'
        ? await prepareImport(db, source, { prune: false, enforce: false }, signal)
        : planned
    const isApplied = approval === undefined || decision !== undefined
    if (isApplied) await applyPlatform(platformKinds, db, prepared, new Date(), { actor: 'pharos' })
    const opened = await db.transaction().execute(async (trx) => {
      await saveImport(trx, { error: null, isApplied })
      if (approval && decision === 'approved') await endApproval(trx, platformApprovals, approval.evidence)
      return planApprovals(trx, platformApprovals, importSlot, approval && !isApplied ? [approval] : [])
    })
    if (opened.length > 0)
      log.error(
        { held: describeHeld(platformKinds, planned.held) },
        'import from NetBox waits: too many deletions',
      )
    else if (isApplied && prepared.plan.changes.length > 0)
      log.info({ changes: prepared.plan.changes.length }, 'inventory imported from NetBox')
  } catch (error) {
    if (!signal.aborted) await saveImport(db, { error: (error as Error).message, isApplied: false })
    throw error
  }
}
