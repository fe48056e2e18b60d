// The customer's view of counters.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { customerView, mapCounters } from './reading.ts'

it('Octets that the device sends enter the network of the customer', () => {
  const device = mapCounters((name) => (name.endsWith('Out') ? 7n : null))
  const customer = mapCounters((name) => (name.endsWith('In') ? 7n : null))
  assert.deepEqual(customerView(device), customer)
})
