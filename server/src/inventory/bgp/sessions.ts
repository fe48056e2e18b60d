// The BGP sessions of ports, as their team sees them.
import { bgpResetReasonOf, bgpResetText } from '@pharos/contract/reason/bgp-reset-reason'
import { bgpSessionsMax, type BgpSession } from '@pharos/contract/inventory/bgp-session'
import type { Postgres } from '../../db/postgres.ts'
import { listSessionRows, type SessionRow } from './session.store.ts'

/** Returns the sessions of the ports that belong to the team, by port and address. */
export async function listBgpSessions(
  postgres: Postgres,
  teamId: number,
  portIds: readonly number[],
): Promise<BgpSession[]> {
  if (portIds.length === 0) return []
  return (await listSessionRows(postgres, teamId, portIds))
    .slice(0, bgpSessionsMax * portIds.length)
    .map(present)
}

function present({
  reset,
  reset_is_exact,
  reset_code,
  reset_subcode,
  reset_text,
  established,
  ...row
}: SessionRow): BgpSession {
  const reason = bgpResetReasonOf(reset_code ?? 0, reset_subcode ?? 0)
  return {
    ...row,
    established: established && established.toISOString(),
    last_reset: reset && {
      at: reset_is_exact ? reset.toISOString() : null,
      reason,
      message: bgpResetText(reason),
      detail: reset_text,
    },
  }
}
