// For tests: a signed parent zone at Knot with a delegation to a child in this process, and Unbound, which validates both. All on loopback without
// root; TTLs are seconds, so that caches expire within a test.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@pharos/lab/address'
import { SignedParent } from '@pharos/lab/signed-parent'
import { Unbound } from '@pharos/lab/unbound'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import { respond, type Responder } from '../answer/respond.ts'

/** The zones of the test. */
const parentZone = 'test.'
export const childZone = 'child.test.'

export type Hierarchy = {
  readonly parentPort: number
  readonly resolverPort: number
  /** Replaces the DS records at the parent. */
  setDs(rdata: readonly Uint8Array[], ttl: number): Promise<void>
  close(): Promise<void>
}

/** Starts the three; `child` answers for the child zone, and may change at any time. */
export async function startHierarchy(child: () => Responder): Promise<Hierarchy> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-dnssec-'))
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const response = respond(child(), query, 'udp')
    if (response) socket.send(response, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const childPort = socket.address().port
  const parentPort = await freePort()
  const resolverPort = await freePort()
  const parent = new SignedParent({
    folder: join(folder, 'parent'),
    port: parentPort,
    zone: parentZone,
    records: ['child NS ns.child', 'ns.child A 127.0.0.1'],
    ttl: 3,
  })
  await parent.start()
  const resolver = new Unbound({
    folder: join(folder, 'resolver'),
    port: resolverPort,
    anchor: parent.anchor,
    zones: { [parentZone]: [parentPort], [childZone]: [childPort] },
  })
  await resolver.start()
  return {
    parentPort,
    resolverPort,
    setDs: (rdata, ttl) =>
      parent.set(
        childZone,
        'DS',
        rdata.map((data) => printRdata(recordType.DS, data)),
        ttl,
      ),
    async close() {
      await Promise.all([resolver.stop(), parent.stop()])
      socket.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
