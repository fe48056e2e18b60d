// Examples of devices and their interfaces.
import {
  getDeviceMetricsRoute,
  getDeviceRoute,
  groupDevicesRoute,
  listDevicesRoute,
  listInterfacesRoute,
} from '../inventory/device.ts'
import type { Device, Interface } from '../inventory/device.ts'
import { example } from '../example.ts'
import { transit } from './service.ts'
import { amsterdam, portId, serviceId } from './world.ts'

export const edge: Device = {
  id: 21,
  name: 'edge1.ams',
  role: 'edge',
  vendor: 'Juniper',
  model: 'MX204',
  serial: 'XH3117AFC0',
  location: amsterdam,
  status: 'online',
  management_ip: null,
  software: '23.4R2.13',
  uptime: 8_216_100,
  last_seen: '2026-03-14T09:41:12.000Z',
  tags: ['core'],
  service_ids: [serviceId],
}

const uplink: Interface = {
  id: 9033,
  name: 'et-0/0/1',
  description: 'CUST: Lindholm AMS-0017',
  type: 'ethernet',
  admin_status: 'up',
  oper_status: 'up',
  speed_bps: 100_000_000_000,
  mtu: 9192,
  mac: '00:00:5e:00:53:17',
  addresses: ['198.51.100.17/31'],
  vlan: null,
  lag: null,
  port_id: portId,
  last_change: '2026-02-03T04:12:55.000Z',
  counters: { in_errors: 0, out_errors: 0, in_discards: 0, out_discards: 12 },
}

const one = { device_id: edge.id }

export const deviceExamples = [
  example(listDevicesRoute, {
    query: { status: ['online', 'degraded'], ordering: 'name', limit: 100 },
    response: { results: [edge], count: 1 },
  }),
  example(groupDevicesRoute, {
    query: { by: 'location,status', search: 'edge' },
    response: {
      results: [
        { key: 'location', label: 'Location', values: [{ value: 'ams', label: 'Amsterdam', count: 1 }] },
        { key: 'status', label: 'Status', values: [{ value: 'online', label: 'Online', count: 1 }] },
      ],
      count: 2,
    },
  }),
  example(getDeviceRoute, {
    params: one,
    query: { include: 'services' },
    response: { ...edge, services: [transit] },
  }),
  example(getDeviceMetricsRoute, {
    params: one,
    query: { metric: ['cpu'], start: '2026-03-14T08:00:00Z', end: '2026-03-14T09:00:00Z', interval: 1800 },
    response: {
      start: '2026-03-14T08:00:00.000Z',
      end: '2026-03-14T09:00:00.000Z',
      interval: 1800,
      timestamps: ['2026-03-14T08:00:00.000Z', '2026-03-14T08:30:00.000Z'],
      series: [
        {
          key: { metric: 'cpu', part: '', statistic: 'median' },
          label: 'CPU',
          unit: 'percent',
          values: [18.4, 21],
          min: 18.4,
          max: 21,
          avg: 19.7,
          last: 21,
          p95: 21,
        },
      ],
    },
  }),
  example(listInterfacesRoute, {
    params: one,
    query: { type: ['ethernet'], ordering: 'name', limit: 100 },
    response: { results: [uplink], count: 1 },
  }),
]
