import { conformanceZones, nameServerConformance } from '../../dns/publish/name-server.conformance.ts'
import { parseZoneName } from '../../net/dns/name.ts'
import { startTestPrimary } from '../dns-server/testing.ts'
import { SandboxNameServer } from './name-server.ts'

const makeFixture = async () => {
  const primary = await startTestPrimary()
  const options = { primary: primary.zones, zones: conformanceZones.map(parseZoneName) }
  const server = new SandboxNameServer(options)
  const absent = new SandboxNameServer(options)
  absent.isDown = true
  return {
    primary,
    server,
    absent,
    restart: () => Promise.resolve(),
    stop: () => primary[Symbol.asyncDispose](),
  }
}

nameServerConformance('sandbox', makeFixture, false, {
  catalog: 'it has no packets',
  clock: 'it has no packets',
})
