// The states of devices, interfaces and services as people read them.
import type { DeviceStatus, InterfaceState } from '@pharos/contract/inventory/device'
import type { Port } from '@pharos/contract/inventory/port'
import type { ServiceState } from '@pharos/contract/inventory/service'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

export const deviceColors: Readonly<Record<DeviceStatus, StateColor>> = {
  online: 'ok',
  degraded: 'warn',
  offline: 'bad',
  maintenance: 'info',
  unknown: 'idle',
}

export const interfaceColors: Readonly<Record<InterfaceState, StateColor>> = {
  up: 'ok',
  down: 'bad',
  testing: 'info',
  unknown: 'idle',
  dormant: 'warn',
  not_present: 'bad',
  lower_layer_down: 'bad',
}

export const serviceColors: Readonly<Record<ServiceState, StateColor>> = {
  requested: 'info',
  scheduled: 'info',
  allocated: 'info',
  testing: 'info',
  production: 'ok',
  production_change_pending: 'info',
  decommission_requested: 'warn',
  decommissioned: 'idle',
  archived: 'idle',
  cancelled: 'idle',
  error: 'bad',
  operator: 'warn',
}

type States = Pick<Port, 'admin_status' | 'oper_status'>

/** A port that is shut by configuration is off, not broken. */
export const portColor = ({ admin_status, oper_status }: States): StateColor =>
  admin_status === 'down' ? 'idle' : interfaceColors[oper_status]

export const portStateText = ({ admin_status, oper_status }: States): string =>
  admin_status === 'down' ? words.device.disabled : words.state[oper_status]

export const DevicePill = ({ status }: { status: DeviceStatus }) => (
  <StatePill color={deviceColors[status]}>{words.status[status]}</StatePill>
)

export const PortPill = (states: States) => (
  <StatePill color={portColor(states)}>{portStateText(states)}</StatePill>
)

export const ServicePill = ({ state }: { state: ServiceState }) => (
  <StatePill color={serviceColors[state]}>{words.serviceState[state]}</StatePill>
)
