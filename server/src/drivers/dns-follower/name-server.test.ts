import { startFollower, type FollowerName } from '@pharos/lab/dns-follower'
import { skipWithout, type ProgramName } from '@pharos/lab/program'
import {
  conformanceCatalog,
  conformanceZones,
  nameServerConformance,
  type NameServerFixture,
  type Skips,
} from '../../dns/publish/name-server.conformance.ts'
import { startTestPrimary } from '../dns-server/testing.ts'
import { createFollower } from './name-server.ts'

const withCatalog: readonly FollowerName[] = ['BIND', 'Knot']

async function makeFixture(name: FollowerName): Promise<NameServerFixture> {
  const primary = await startTestPrimary()
  const { key } = primary
  const peer = await startFollower(name, {
    primary,
    key,
    zones: conformanceZones,
    ...(withCatalog.includes(name) && { catalog: conformanceCatalog }),
  })
  const server = createFollower({ address: peer.address, port: peer.port, key })
  return {
    primary,
    server,
    absent: createFollower({ address: peer.address, port: 9, key, timeoutMs: 500 }),
    async restart() {
      await peer.stop()
      await peer.start()
    },
    async stop() {
      await server.close()
      await peer[Symbol.asyncDispose]()
      await primary[Symbol.asyncDispose]()
    },
  }
}

const peers: readonly { name: FollowerName; programs: ProgramName[]; skips?: Skips }[] = [
  { name: 'NSD', programs: ['nsd'], skips: { catalog: 'NSD before 4.9 has no catalog zones' } },
  { name: 'BIND', programs: ['named'] },
  { name: 'Knot', programs: ['knotd'] },
  {
    name: 'PowerDNS',
    programs: ['pdns_server', 'pdnsutil'],
    skips: {
      failing: 'PowerDNS refuses questions for a secondary zone that it has not transferred yet',
      catalog: 'PowerDNS 4.7 needs its zone kinds in the database',
    },
  },
]

for (const { name, programs, skips } of peers)
  nameServerConformance(name, () => makeFixture(name), skipWithout(...programs), skips)
