import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { facilitySums } from './facility-sums.ts'

const port = (id: number, place: string | null, bps: number | null, fields: object = {}) => ({
  id,
  name: `port-${id}`,
  location: place === null ? null : { name: place, country: 'NL' },
  admin_status: 'up' as const,
  oper_status: 'up' as const,
  in_bps: bps,
  out_bps: bps,
  speed_bps: 10e9,
  lag_id: null,
  ...fields,
})

describe('the traffic of facilities', () => {
  it('is the sum of its ports, without members of a LAG, the largest first', () => {
    const sums = facilitySums([
      port(1, 'Amsterdam', 1e9),
      port(2, 'Frankfurt', 4e9),
      port(3, 'Frankfurt', 3e9, { lag_id: 2 }),
      port(4, 'Frankfurt', 1e9, { oper_status: 'down' }),
    ] as never)
    assert.deepEqual(
      sums.map(({ name, up, ports, inBps, busiest }) => [name, up, ports, inBps, busiest?.id, busiest?.load]),
      [
        ['Frankfurt', 2, 3, 5e9, 2, 0.4],
        ['Amsterdam', 1, 1, 1e9, 1, 0.1],
      ],
    )
  })

  it('is unknown if nothing is measured, and disabled ports are not counted', () => {
    const [sum] = facilitySums([port(1, null, null, { admin_status: 'down' })] as never)
    assert.deepEqual(sum, {
      name: undefined,
      up: 0,
      ports: 0,
      inBps: null,
      outBps: null,
      busiest: undefined,
    })
  })
})
