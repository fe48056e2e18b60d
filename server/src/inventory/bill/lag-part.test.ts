import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subtract } from '../usage/billing-month.ts'
import { lagPartsOf } from './lag-part.ts'

const minute = 60_000
const at = (minutes: number) => minutes * minute
const part = (from: number, to: number) => ({ startMs: at(from), endMs: at(to) })
const always = part(0, 1000)

test('the bucket in which a port joins or leaves a LAG belongs to the LAG, and to the earlier of two', () => {
  const lags = new Map([
    [7, [always]],
    [8, [always]],
  ])
  const facts = [
    { ...part(0, 12), lagPortId: null },
    { ...part(12, 33), lagPortId: 7 },
    { ...part(33, 48), lagPortId: 8 },
    { ...part(48, 1000), lagPortId: null },
  ]
  const parts = lagPartsOf(facts, [always], lags)
  assert.deepEqual(parts, [
    { ...part(10, 35), lagPortId: 7 },
    { ...part(35, 50), lagPortId: 8 },
  ])
  assert.deepEqual(subtract([always], parts), [part(0, 10), part(50, 1000)])
})

test('only the time in which both the LAG and the port belong to the service is in the LAG', () => {
  const lags = new Map([[7, [part(20, 40), part(60, 100)]]])
  const facts = [{ ...always, lagPortId: 7 }]
  assert.deepEqual(lagPartsOf(facts, [part(0, 30), part(50, 70)], lags), [
    { ...part(20, 30), lagPortId: 7 },
    { ...part(60, 70), lagPortId: 7 },
  ])
  assert.deepEqual(lagPartsOf([{ ...always, lagPortId: 9 }], [always], lags), [])
})
