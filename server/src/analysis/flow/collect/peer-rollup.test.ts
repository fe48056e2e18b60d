import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestFlowStore } from '../../../drivers/clickhouse/testing.ts'
import { rollUpPeers } from './peer-rollup.ts'

const hour = 1_790_000_400 - (1_790_000_400 % 3600)
const { signal } = new AbortController()

test('closed hours are added once, by the remote end and multiplied by the rate', async () => {
  await using store = await createTestFlowStore()
  assert.equal(await rollUpPeers(store, hour, signal), 0)
  const insert = (at: number, direction: string) =>
    store.command(
      `insert into flows (team_id, time, direction, is_primary, src_as, dst_as, src_country, dst_country, bytes, packets, sampling_rate)
       select 1, {at:UInt32}, '${direction}', 1, 64499, 64501, 'NL', 'DE', 100, 2, number * 10 from numbers(2)`,
      { at },
    )
  for (const at of [hour, hour + 3599, hour + 7200]) await insert(at, 'in')
  await insert(hour + 10, 'out')
  assert.equal(await rollUpPeers(store, hour + 3600 + 599, signal), 0, 'the first hour is not closed yet')
  assert.equal(await rollUpPeers(store, hour + 3600 + 600, signal), 1)
  assert.equal(await rollUpPeers(store, hour + 3600 + 600, signal), 0)
  const rows = () =>
    store.query(
      `select toUnixTimestamp(time) as time, toString(direction) as way, remote_as as asn, toString(remote_country) as country, sum(bytes) as bytes,
         sum(packets) as packets, sum(flows) as flows from flows_by_peer_1h group by all order by time, way`,
      {},
    )
  const first = [
    { time: hour, way: 'in', asn: 64499, country: 'NL', bytes: 2200, packets: 44, flows: 4 },
    { time: hour, way: 'out', asn: 64501, country: 'DE', bytes: 1100, packets: 22, flows: 2 },
  ]
  assert.deepEqual(await rows(), first)
  assert.equal(await rollUpPeers(store, hour + 5 * 3600, signal), 3, 'an hour without flows is passed over')
  assert.deepEqual(await rows(), [
    ...first,
    { ...first[0], time: hour + 7200, bytes: 1100, packets: 22, flows: 2 },
  ])
})
