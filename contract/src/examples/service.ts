// Examples of the services that the team has bought.
import { example } from '../example.ts'
import { getServiceRoute, listServicesRoute, type Service } from '../inventory/service.ts'
import { amsterdam, portId, serviceId, web } from './world.ts'

export const transit: Service = {
  id: serviceId,
  name: 'Transit Amsterdam',
  type: 'transit',
  state: 'production',
  state_messages: [],
  location: amsterdam,
  commit_bps: 10_000_000_000,
  burst_bps: 100_000_000_000,
  start_date: '2026-03-01',
  end_date: null,
  external_ref: 'PO-2026-0117',
  billing_ref: 'LIND-TR-1',
  billing: {
    method: 'p95',
    direction: 'max',
    scope: 'port',
    commit_scope: 'service',
    timezone: 'Europe/Amsterdam',
    day: 1,
    included_octets: null,
    pool_service_id: null,
    prices: {
      currency: 'EUR',
      decimals: 2,
      monthly: '250',
      commit: '0.40',
      overage: '0.55',
      tiers: [],
      tier_mode: 'graduated',
    },
  },
  port_ids: [portId],
  asn: web.origin_asn,
}
const protection: Service = {
  ...transit,
  id: 88,
  name: 'DDoS protection',
  type: 'ddos',
  location: null,
  commit_bps: null,
  burst_bps: null,
  billing_ref: 'LIND-DP-1',
  billing: {
    method: 'flat',
    direction: 'max',
    scope: 'port',
    commit_scope: 'service',
    timezone: 'UTC',
    day: 1,
    included_octets: null,
    pool_service_id: null,
    prices: null,
  },
  port_ids: [],
  asn: null,
}

export const serviceExamples = [
  example(listServicesRoute, {
    query: { state: ['production'], ordering: 'name', limit: 100 },
    response: { results: [protection, transit], count: 2 },
  }),
  example(getServiceRoute, { params: { service_id: transit.id }, response: transit }),
]
