// The states of a zone as people read them: publication, DNSSEC, and who serves the newest version.
import type { DnssecState } from '@pharos/contract/dns/term'
import type { ServerZoneState, Zone, ZoneStatus } from '@pharos/contract/dns/zone'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

export const statusColors: Readonly<Record<ZoneStatus, StateColor>> = {
  ok: 'ok',
  updating: 'info',
  error: 'bad',
  pending_verification: 'warn',
}
export const dnssecColors: Readonly<Record<DnssecState, StateColor>> = {
  disabled: 'idle',
  signing: 'info',
  active: 'ok',
  pending_ds: 'warn',
  pending_disabled: 'info',
  error: 'bad',
}
const serverColors: Readonly<Record<ServerZoneState, StateColor>> = {
  serving: 'ok',
  behind: 'info',
  absent: 'bad',
  failing: 'bad',
  unreachable: 'bad',
}

const isMoving = (color: StateColor): boolean => color === 'info'

export const ZoneStatusPill = ({ status }: { status: ZoneStatus }) => (
  <StatePill color={statusColors[status]} moving={isMoving(statusColors[status])}>
    {words.status[status]}
  </StatePill>
)

export const DnssecPill = ({ state, label }: { state: DnssecState; label?: string }) => (
  <StatePill color={dnssecColors[state]} moving={isMoving(dnssecColors[state])}>
    {label ?? words.dnssec[state]}
  </StatePill>
)

export const ServerPill = ({ state }: { state: ServerZoneState }) => (
  <StatePill color={serverColors[state]} moving={isMoving(serverColors[state])}>
    {words.servers.states[state]}
  </StatePill>
)

/** Returns `2 of 3`; undefined if the provider has no name servers. */
export function servedText({ servers = [] }: Zone): string | undefined {
  const serving = servers.filter(({ state }) => state === 'serving').length
  return servers.length === 0 ? undefined : words.list.servedBy(serving, servers.length)
}
