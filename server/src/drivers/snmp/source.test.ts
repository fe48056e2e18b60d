// The SNMP driver: the conformance suite on the replay agent, and answers of devices and hostile hosts.
import { startSnmpAgent, type AgentFaults, type SnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import {
  deviceSourceConformance,
  type DeviceFault,
  type DeviceFixture,
} from '../../inventory/collect/device-source.conformance.ts'
import { ifTable } from './oids.ts'
import { createSnmpSource } from './source.ts'
import { deviceRecords } from './testing-device.ts'

const sourceOf = ({ port }: SnmpAgent, community = 'public') =>
  createSnmpSource({
    address: '127.0.0.1',
    port,
    credential: { kind: 'v2c', community },
    timeoutMs: 500,
    deadlineMs: 300_000,
  })

/** `half`: the agent is silent after ten requests. */
const faultsOf = (fault: DeviceFault): AgentFaults => {
  let requests = 0
  const faults: Record<DeviceFault, () => AgentFaults> = {
    silent: () => ({ isSilent: true }),
    slow: () => ({ delayMs: 30 }),
    lossy: () => ({ loseEvery: 3 }),
    half: () => ({
      get isSilent() {
        return requests++ > 10
      },
    }),
    stranger: () => ({ answersFromElsewhere: true }),
    endless: () => ({ endlessBelow: ifTable.descr }),
    twice: () => ({ sendsTwice: true }),
    truncated: () => ({ truncateAt: 150 }),
    small: () => ({ answerOctets: 484 }),
  }
  return faults[fault]()
}

async function snmpFixture(): Promise<DeviceFixture> {
  const agent = await startSnmpAgent([])
  return {
    source: sourceOf(agent),
    set: (device) => agent.setRecords(deviceRecords(device)),
    setFault: (fault) => {
      agent.faults = fault === undefined ? {} : faultsOf(fault)
    },
    restart: () => agent.restart(),
    create: () => sourceOf(agent),
    stop: async () => agent.close(),
  }
}

deviceSourceConformance(
  'of SNMP',
  ['counters', 'names', 'states', 'optics', 'restart', 'datagrams'],
  snmpFixture,
)
