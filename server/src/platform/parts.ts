// Wires the platform: its operations, and the import from NetBox, a loop of the reconciler role on one process, if it is configured. Many
// deletions wait for the operator; everything of that plan waits with them.
import { serviceTypes } from '@pharos/contract/service'
import { createLedLoop } from '../db/led-loop.ts'
import type { Db } from '../db/postgres.ts'
import { createNetboxClient } from '../drivers/netbox/client.ts'
import { parseDeviceFilter, parseNetboxUrl, parseServiceTypes } from '../drivers/netbox/mapping.ts'
import { queueStaffMail } from '../hold/staff-mail.ts'
import type { Mounted } from '../http/mount.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import type { Log } from '../runtime/log.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { applyPlatform } from './engine/apply.ts'
import { describeHeld, type HeldDeletions } from './engine/guard.ts'
import { saveImport } from './engine/import-state.store.ts'
import { prepareImport, type NetboxSource } from './import-netbox.ts'
import { platformKinds } from './kinds/index.ts'
import { platformRoutes } from './platform.routes.ts'

export const routes = ({ front, ring, now }: Shared): Mounted[] => platformRoutes({ db: front, ring, now })

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
  const deps = {
    ...shared,
    db: owner,
    source,
    recipients: config.operatorAlertEmails,
  }
  return [
    createLedLoop(shared, {
      name: 'sync-inventory',
      sends: 'nothing',
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
  readonly ring: KeyRing
  /** Of mails about held deletions; empty: all staff with a confirmed address. */
  readonly recipients: readonly string[]
}

/** One run: plans with pruning, and applies the plan unless it deletes too much. Saves the result, and throws if it failed. */
export async function syncInventory(deps: SyncDeps, signal: AbortSignal): Promise<void> {
  const { db, source, log } = deps
  try {
    const prepared = await prepareImport(db, source, { prune: true, enforce: false }, signal)
    const { held, plan } = prepared
    if (held.length === 0) await applyPlatform(platformKinds, db, prepared, new Date(), { actor: 'pharos' })
    if (await saveHeld(deps, held))
      log.error({ held: describeHeld(platformKinds, held) }, 'import from NetBox waits: too many deletions')
    else if (held.length === 0 && plan.changes.length > 0)
      log.info({ changes: plan.changes.length }, 'inventory imported from NetBox')
  } catch (error) {
    if (!signal.aborted) await saveImport(db, { error: (error as Error).message, held: [] })
    throw error
  }
}

/** Saves the result together with the mails about deletions that were not held before; returns whether there are any. */
async function saveHeld(
  { db, ring, recipients }: SyncDeps,
  held: readonly HeldDeletions[],
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await saveImport(trx, { error: null, held }))) return false
    const deletions = describeHeld(platformKinds, held)
    const content = { source: 'NetBox', at: new Date().toISOString(), deletions }
    await queueStaffMail({ ring, recipients }, trx, 'import-held', content)
    return true
  })
}
