// Messages to the teams whose BGP sessions were established or have ended.
import { bgpResetReasonOf, bgpResetText } from '@pharos/contract/reason/bgp-reset-reason'
import type { Trx } from '../../db/postgres.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { listPortsById } from '../assignment/assigned-port.store.ts'
import type { PortSessionChange } from './session.store.ts'

/** Writes a message for each change of a session of a sold port, except on devices in maintenance. */
export async function reportSessions(trx: Trx, changes: readonly PortSessionChange[]): Promise<void> {
  if (changes.length === 0) return
  const ports = await listPortsById(
    trx,
    changes.map(({ portId }) => portId),
  )
  const messages = changes.flatMap(({ portId, peer, peerAsn, before, after, reset }) =>
    (ports.get(portId) ?? [])
      .filter(({ isInMaintenance }) => !isInMaintenance)
      .map(({ teamId, port, at }) => {
        const reason = reset && bgpResetReasonOf(reset.code, reset.subcode)
        return {
          teamId,
          type: 'port.bgp_session_changed' as const,
          data: {
            ...port,
            peer,
            peer_asn: peerAsn,
            before,
            after,
            reason,
            message: reason === null ? '' : bgpResetText(reason),
            at: at.toISOString(),
          },
        }
      }),
  )
  await writeMessages(trx, messages)
}
