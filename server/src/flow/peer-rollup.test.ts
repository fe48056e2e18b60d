import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestFlowStore } from '../drivers/clickhouse/testing.ts'
import type { FlowStore } from './flow-store.ts'
import { peerStatement, rollUpHours, rollUpPeers } from './peer-rollup.ts'

const hour = 1_790_000_400 - (1_790_000_400 % 3600)
const { signal } = new AbortController()

/** Two flows, with the rates 0 and 10. */
const insert = (store: FlowStore, at: number, direction = 'in') =>
  store.command(
    `insert into flows (team_id, time, direction, is_primary, src_as, dst_as, src_country, dst_country, bytes, packets, sampling_rate)
     select 1, {at:UInt32}, '${direction}', 1, 64499, 64501, 'NL', 'DE', 100, 2, number * 10 from numbers(2) settings insert_deduplicate = 0`,
    { at },
  )
const rowsOf = (store: FlowStore) =>
  store.query(
    `select toUnixTimestamp(time) as time, toString(direction) as way, remote_as as asn, toString(remote_country) as country, sum(bytes) as bytes,
       sum(packets) as packets, sum(flows) as flows from flows_by_peer_1h group by all order by time, way`,
    {},
  )
const hoursOf = (store: FlowStore) =>
  store.query(
    'select toUnixTimestamp(time) as at, sum(flows) as flows from flows_by_peer_1h group by at order by at',
    {},
  )

test('closed hours are added once, by the remote end and multiplied by the rate', async () => {
  await using store = await createTestFlowStore()
  assert.equal(await rollUpPeers(store, hour, signal), 0)
  for (const at of [hour, hour + 3599, hour + 7200]) await insert(store, at)
  await insert(store, hour + 10, 'out')
  assert.equal(await rollUpPeers(store, hour + 3600 + 4199, signal), 0, 'the first hour is not closed yet')
  assert.equal(await rollUpPeers(store, hour + 3600 + 4200, signal), 1)
  assert.equal(await rollUpPeers(store, hour + 3600 + 4200, signal), 0)
  const first = [
    { time: hour, way: 'in', asn: 64499, country: 'NL', bytes: 2200, packets: 44, flows: 4 },
    { time: hour, way: 'out', asn: 64501, country: 'DE', bytes: 1100, packets: 22, flows: 2 },
  ]
  assert.deepEqual(await rowsOf(store), first)
  assert.equal(await rollUpPeers(store, hour + 5 * 3600, signal), 1, 'an hour without flows is no work')
  assert.deepEqual(await rowsOf(store), [
    ...first,
    { ...first[0], time: hour + 7200, bytes: 1100, packets: 22, flows: 2 },
  ])
})

test('hours after days without flows are added', async () => {
  await using store = await createTestFlowStore()
  const later = hour + 5 * 86_400
  for (const at of [hour, later]) await insert(store, at)
  await rollUpPeers(store, later + 7800, signal)
  assert.deepEqual(await hoursOf(store), [
    { at: hour, flows: 2 },
    { at: later, flows: 2 },
  ])
})

test('flows that come after their hour was added are added too, and hours before the first one', async () => {
  await using store = await createTestFlowStore()
  const now = hour + 10 * 3600
  for (const at of [hour, hour + 7200]) await insert(store, at)
  assert.equal(await rollUpPeers(store, now, signal), 2)
  for (const at of [hour - 7200, hour + 5, hour + 3600]) await insert(store, at)
  assert.equal(await rollUpPeers(store, now, signal), 3)
  assert.equal(await rollUpPeers(store, now, signal), 0)
  assert.deepEqual(await hoursOf(store), [
    { at: hour - 7200, flows: 2 },
    { at: hour, flows: 4 },
    { at: hour + 3600, flows: 2 },
    { at: hour + 7200, flows: 2 },
  ])
})

test('an hour that a failure left added twice or in part is corrected; one whose flows are deleted stays', async () => {
  await using store = await createTestFlowStore()
  const now = hour + 10 * 3600
  for (const at of [hour, hour + 3600, hour + 7200]) await insert(store, at)
  await rollUpPeers(store, now, signal)
  const before = await rowsOf(store)
  await store.command(`${peerStatement(`time = toDateTime(${hour}, 'UTC')`)} settings insert_deduplicate = 0`)
  await store.command(`delete from flows_by_peer_1h where time = toDateTime(${hour + 3600}, 'UTC')`)
  await store.command(
    `delete from flows where time = toDateTime(${hour + 7200}, 'UTC') and sampling_rate = 10`,
  )
  assert.equal(await rollUpPeers(store, now + 3600, signal), 2)
  assert.deepEqual(await rowsOf(store), before)
})

test('several hours are added with one statement, and nothing beside them', async () => {
  await using store = await createTestFlowStore()
  for (const at of [hour - 1, hour, hour + 3600, hour + 7200]) await insert(store, at)
  assert.equal(await rollUpHours(store, hour, 2, hour + 7200), true)
  assert.equal(await rollUpHours(store, hour, 2, hour + 7200), false)
  assert.deepEqual(await hoursOf(store), [
    { at: hour, flows: 2 },
    { at: hour + 3600, flows: 2 },
  ])
})

test('an hour that two processes add at the same time is added once', async () => {
  await using store = await createTestFlowStore()
  await insert(store, hour)
  // Each has found the hour missing before the first adds it.
  const found = Promise.withResolvers<void>()
  let count = 0
  const together: FlowStore = {
    ...store,
    async query(...asked) {
      const rows = await store.query(...asked)
      if (++count === 2) found.resolve()
      await found.promise
      return rows as never
    },
  }
  await Promise.all([1, 2].map(() => rollUpHours(together, hour, 1, hour + 7200)))
  assert.deepEqual(await hoursOf(store), [{ at: hour, flows: 2 }])
})
