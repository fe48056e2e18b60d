import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Connections } from './connections.ts'

it('a connection that was forgotten for want of room is not counted again at its end', () => {
  const [deleted, updated] = [2, 5]
  const connections = new Connections(2)
  const take = (connection: number, kind: number, octets: number, createdMs: number, timeMs: number) => {
    const counts = { octets, packets: 0, octetsReverse: 0, packetsReverse: 0 }
    connections.take(3, connection, kind, createdMs, timeMs, counts)
    return counts.octets
  }
  take(9, deleted, 0, 0, 1000)
  for (const connection of [1, 2, 3]) take(connection, updated, 100, 2000, 3000)
  assert.deepEqual(
    [1, 2, 3, 4].map((connection) => take(connection, deleted, 150, 2000, 4000)),
    [0, 50, 50, 0],
    'the first one, and any other that may be it',
  )
  assert.equal(take(5, deleted, 150, 3500, 4000), 150, 'one that is newer')
})
