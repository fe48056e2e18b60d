// Wires the platform: its operations, and the import from NetBox, a loop of the reconciler role on one process, if it is configured. Many
// deletions need an approval, and everything of that plan waits with them.
import { serviceTypes } from '@pharos/contract/inventory/service'
import { endApproval, findDecision, planApprovals } from '../approval/plan-approvals.ts'
import { createLedLoop } from '../db/led-loop.ts'
import type { Db } from '../db/postgres.ts'
import { createNetboxClient } from '../drivers/netbox/client.ts'
import { parseDeviceFilter, parseNetboxUrl, parseServiceTypes } from '../drivers/netbox/mapping.ts'
import type { Mounted } from '../http/mount.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import { importSlot, planDeletions, platformApprovals } from './approval-area.ts'
import { applyPlatform } from './engine/apply.ts'
import { describeHeld } from './engine/guard.ts'
import { saveImport } from './engine/import-state.store.ts'
import { prepareImport, type NetboxSource } from './import-netbox.ts'
import { platformKinds } from './kinds/index.ts'
import { platformRoutes } from './platform.routes.ts'

export const routes = ({ front, ring }: Shared): Mounted[] => platformRoutes({ db: front, ring })

export const parts = (shared: Shared): Parts => ({ reconciler: () => netboxImport(shared) })

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

function netboxImport(shared: Shared): Component[] {
  const { config, owner } = shared
  const source = netboxOf(config)
  if (!source) return []
  const deps = { ...shared, db: owner, source }
  return [
    createLedLoop(shared, {
      name: 'sync-inventory',
      sends: 'nothing',
      wakeName: 'imports',
      intervalMs,
      timeoutMs: intervalMs,
      run: (signal) => syncInventory(deps, signal),
    }),
  ]
}

export type SyncDeps = {
  readonly db: Db
  readonly source: NetboxSource
  readonly log: Pick<Log, 'info' | 'error'>
}

/**
 * One run: plans with pruning, and applies the plan unless it deletes too much. Skips deletions that staff rejected;
 * all others wait for approval. Saves the result, and throws if it failed.
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
