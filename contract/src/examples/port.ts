// Examples of ports.
import { example } from '../example.ts'
import type { BgpSession } from '../inventory/bgp-session.ts'
import { getPortRoute, listPortsRoute, type Port } from '../inventory/port.ts'
import { edge } from './device.ts'
import { fading, latest, transceiver } from './transceiver.ts'
import { amsterdam, portId, serviceId } from './world.ts'

export const uplink: Port = {
  id: portId,
  name: 'et-0/0/1',
  circuit_id: 'AMS-0017',
  device_id: edge.id,
  device_name: edge.name,
  location: amsterdam,
  speed_bps: 100_000_000_000,
  in_bps: 41_230_118_400,
  out_bps: 9_871_002_112,
  media: '100GBASE-LR4',
  admin_status: 'up',
  oper_status: 'up',
  lag_id: null,
  is_lag: false,
  service_id: serviceId,
  description: 'Uplink 1',
  last_change: '2026-02-03T04:12:55.000Z',
  last_poll: '2026-03-14T09:41:12.000Z',
  wiring: { panel: 'AMS-A', module: 'M2', position: '12' },
}

const session: BgpSession = {
  port_id: portId,
  peer: '192.0.2.130',
  peer_asn: 64_496,
  state: 'established',
  established: '2026-03-12T04:13:02.000Z',
  prefixes: [{ family: 'ipv4', received: 12, limit: 50 }],
  last_reset: {
    at: '2026-03-12T04:12:41.000Z',
    reason: 'hold_timer',
    message: 'No message came for longer than the hold time.',
    detail: 'hold time expired',
  },
}

export const portExamples = [
  example(listPortsRoute, {
    query: { service_id: [serviceId], include: 'optics', ordering: 'device_name,name', limit: 100 },
    response: { results: [{ ...uplink, transceiver, optics: { latest, warnings: [fading] } }], count: 1 },
  }),
  example(getPortRoute, {
    params: { port_id: portId },
    query: { include: 'bgp_sessions,log' },
    response: {
      ...uplink,
      transceiver,
      bgp_sessions: [session],
      log: [{ at: '2026-02-03T04:12:55.000Z', kind: 'oper', before: 'down', after: 'up' }],
    },
  }),
]
