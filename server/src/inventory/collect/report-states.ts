// Messages to the teams whose ports have changed their state.
import type { Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import type { InterfaceStateChange } from './collect.store.ts'
import { listPortsOf } from '../assignment/assigned-port.store.ts'

/** Writes a message for each change of a port, except on devices in maintenance. */
export async function reportStates(trx: Trx, changes: readonly InterfaceStateChange[]): Promise<void> {
  if (changes.length === 0) return
  const ports = await listPortsOf(
    trx,
    changes.map(({ interfaceId }) => interfaceId),
  )
  const messages = changes.flatMap(({ interfaceId, before, after }) =>
    (ports.get(interfaceId) ?? [])
      .filter(({ isInMaintenance }) => !isInMaintenance)
      .map(({ teamId, port, adminStatus, at }) => ({
        teamId,
        type: 'port.status_changed' as const,
        data: { ...port, before, after, admin_status: adminStatus, at: at.toISOString() },
      })),
  )
  await writeMessages(trx, messages)
}
