// Warnings about the effect of a list: the largest share decides, services and refused connections are named.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { largestDrop, warningsOfEffect } from './effect-warnings.ts'

const volume = { packets: 0, bytes: 0, flows: 0 }
const service = (port: number, share = 1) => ({ address: '203.0.113.7', protocol: 6, port, share })
const rule = (index: number, fields: object) => ({
  index,
  normal: volume,
  attack: volume,
  services: [],
  new_connections_share: null,
  ...fields,
})
const complete = { state: 'complete' as const, notes: [] }

describe('warnings about the effect of a list', () => {
  it('compare the largest share, whichever measure it has', () => {
    const drop = (bytes: number | null, packets: number | null, flows: number | null) =>
      largestDrop({ dropped_normal_shares: { bytes, packets, flows } })
    assert.deepEqual(drop(0.001, 0.02, 0.18), { percent: 18, measure: 'flows' })
    assert.deepEqual(drop(0.1, 0.02, 0.05), { percent: 10, measure: 'bytes' })
    assert.equal(drop(null, null, null).percent, 0)
  })

  it('name the services that a rule takes, and the part of connections that a limit lets pass', () => {
    const services = [22, 443, 80, 25].map((port) => service(port, 0.9999))
    const warnings = warningsOfEffect({
      ...complete,
      rules: [
        rule(3, { services }),
        rule(5, { new_connections_share: 0.0216 }),
        rule(6, { new_connections_share: 1 }),
      ],
    })
    assert.deepEqual(
      warnings.map(({ code, loc, detail }) => [code, loc[2], detail]),
      [
        [
          'takes_service',
          3,
          'The rule drops at least 99.9 % of a service that was used in the last day: TCP 22 of 203.0.113.7, TCP 443 of 203.0.113.7, TCP 80 of 203.0.113.7 and 1 more.',
        ],
        [
          'limits_new_connections',
          5,
          'While the limit is exceeded, 2.1 % of new connections pass, wanted ones too: it saves the server, not its users.',
        ],
      ],
    )
  })

  it('tell that services are not known, unless nothing is', () => {
    const codes = (state: 'complete' | 'unavailable') =>
      warningsOfEffect({ state, rules: [], notes: ['services'] }).map(({ code }) => code)
    assert.deepEqual([codes('complete'), codes('unavailable')], [['services_unknown'], []])
  })
})
