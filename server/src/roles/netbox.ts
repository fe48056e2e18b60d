// Wires the import from NetBox: a loop of the reconciler role on one process, if it is configured. Many deletions wait for the
// operator; everything of that plan waits with them.
import { serviceTypes } from '@pharos/contract/service'
import { Leadership } from '../db/leadership.ts'
import { createNetboxClient } from '../drivers/netbox/client.ts'
import { parseDeviceFilter, parseNetboxUrl, parseServiceTypes } from '../drivers/netbox/mapping.ts'
import { applyPlatform } from '../platform/apply.ts'
import { describeHeld } from '../platform/guard.ts'
import { prepareImport, type NetboxSource } from '../platform/import-netbox.ts'
import { saveImport } from '../platform/import-state.store.ts'
import { platformKinds } from '../platform/kinds/index.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
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

export function netboxParts({ config, postgres, log, metrics }: Shared): Component[] {
  const source = netboxOf(config)
  if (!source) return []
  const leadership = new Leadership(postgres, 'sync-inventory')
  const loop = createLoop({
    name: 'sync-inventory',
    intervalMs,
    timeoutMs: intervalMs,
    run: async (signal) => {
      if (!(await leadership.hold())) return
      await syncInventory(postgres.owner, source, log, signal)
    },
    log,
    metrics,
  })
  return [
    {
      name: 'sync-inventory',
      start: () => loop.start(),
      stop: async () => {
        await loop.stop()
        await leadership.release()
      },
    },
  ]
}

/** One run: plans with pruning, and applies the plan unless it deletes too much. Saves the result, and throws if it failed. */
export async function syncInventory(
  db: Shared['postgres']['owner'],
  source: NetboxSource,
  log: Pick<Shared['log'], 'info' | 'error'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const prepared = await prepareImport(db, source, { prune: true, enforce: false }, signal)
    const { held, plan } = prepared
    if (held.length === 0) await applyPlatform(platformKinds, db, prepared, new Date(), { actor: 'pharos' })
    const isNew = await saveImport(db, { error: null, held })
    if (isNew)
      log.error({ held: describeHeld(platformKinds, held) }, 'import from NetBox waits: too many deletions')
    else if (held.length === 0 && plan.changes.length > 0)
      log.info({ changes: plan.changes.length }, 'inventory imported from NetBox')
  } catch (error) {
    if (!signal.aborted) await saveImport(db, { error: (error as Error).message, held: [] })
    throw error
  }
}
