// The state of a cross connect as people read it.
import type { CrossConnect, CrossConnectStatus } from '@pharos/contract/inventory/cross-connect'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

type State = Pick<CrossConnect, 'status' | 'waits_for'>

const colors: Readonly<Record<CrossConnectStatus, StateColor>> = {
  reserved: 'info',
  awaiting_loa: 'info',
  awaiting_connect: 'info',
  connected: 'ok',
  awaiting_cease: 'warn',
  ceased: 'idle',
  broken: 'bad',
}

export const crossConnectColor = ({ status, waits_for }: State): StateColor =>
  waits_for === 'customer' ? 'warn' : colors[status]

export const CrossConnectPill = (state: State) => (
  <StatePill color={crossConnectColor(state)}>{words.crossConnects.statuses[state.status]}</StatePill>
)
