// The text of the metrics: the customer's direction, unknown values, escaping, and the names that the dashboard uses.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { PortReading } from './metrics.store.ts'
import { openMetrics } from './metrics.ts'

const port: PortReading = {
  id: 7,
  name: 'et-0/0/1',
  circuit_id: 'C1',
  device_name: 'r1',
  service: 'Transit',
  speed_bps: 1e11,
  admin_status: 'up',
  oper_status: 'down',
  seen: new Date(1_774_000_000_500),
  counters: {
    octetsIn: '9007199254740993000',
    octetsOut: '5',
    packetsIn: '1',
    packetsOut: '2',
    errorsIn: '3',
    errorsOut: null,
    discardsIn: '0',
    discardsOut: '0',
  },
}

const linesOf = async (...ports: PortReading[]) =>
  (
    await openMetrics(ports, new Map(), [
      { name: 'r1', is_answering: true },
      { name: 'r2', is_answering: null },
    ])
  ).split('\n')

describe('the metrics of a team', () => {
  test('are those of the customer; a counter that the device lacks is left out, not zero', async () => {
    const labels = '{port_id="7",circuit_id="C1",device="r1",name="et-0/0/1",service="Transit"}'
    const lines = await linesOf(port)
    for (const line of [
      `pharos_port_receive_bytes_total${labels} 5`,
      `pharos_port_transmit_bytes_total${labels} 9007199254740993000`,
      `pharos_port_transmit_errors_total${labels} 3`,
      `pharos_port_up${labels} 0`,
      `pharos_port_last_poll_timestamp_seconds${labels} 1774000000.5`,
      'pharos_device_up{device="r1"} 1',
    ])
      assert.ok(lines.includes(line), line)
    assert.ok(!lines.some((line) => /^pharos_port_receive_errors_total\{|device="r2"/.test(line)))
    assert.equal(lines.findLast(Boolean), '# EOF')
  })

  test('escape names, and leave out a port that was never polled', async () => {
    const lines = await linesOf({
      ...port,
      name: 'a"b\\c\nd',
      counters: null,
      oper_status: 'unknown',
      seen: null,
    })
    assert.ok(lines.some((line) => line.includes('name="a\\"b\\\\c\\nd"')))
    assert.ok(!lines.some((line) => line.startsWith('pharos_port_up{')))
  })

  test('have every name that the dashboard of the docs uses', async () => {
    const dashboard = readFileSync(
      new URL('../../../../docs/grafana/inventory.json', import.meta.url),
      'utf8',
    )
    JSON.parse(dashboard)
    const text = (await linesOf(port)).join('\n')
    const used = new Set(dashboard.match(/pharos_[a-z_]+/g))
    assert.ok(used.size >= 8)
    for (const name of used)
      assert.match(text, new RegExp(`^# TYPE ${name.replace(/_total$/, '')} `, 'm'), name)
  })
})
