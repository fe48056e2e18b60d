// Records the examples of flows: the traffic of the team around an amplification attack.
import {
  exportFlowTimeseriesRoute,
  getFlowGraphRoute,
  getFlowTimeseriesRoute,
  type FlowTimeseriesRequest,
} from '@pharos/contract/flow/flow'
import { saveAsNames } from '../../../src/flow/flow-names.ts'
import { insertFlows } from '../../../src/flow/testing.ts'
import { atWithFlows, createFlows } from './attack.ts'
import type { Recorder } from './recorder.ts'

const window = { start: '2026-04-01T03:00:00Z', end: '2026-04-01T03:30:00Z' }
const body = {
  ...window,
  interval: 600,
  metric: 'bps',
  direction: 'in',
  group_by: ['protocol', 'service_port'],
  filters: [{ key: 'protocol', op: 'in', value: ['udp', 'tcp'] }],
  limit: 2,
} satisfies FlowTimeseriesRequest

export async function recordFlow(recorder: Recorder): Promise<void> {
  const { api, owner, record } = recorder
  await insertFlows(api.shared.flowStore, createFlows())
  const names = new Map([
    [64_508, 'Example Access'],
    [64_511, 'Example Hosting'],
  ])
  await saveAsNames(owner, names)
  await atWithFlows(recorder, '2026-04-01T03:40:00.000Z')
  await record(getFlowTimeseriesRoute, { body })
  await record(exportFlowTimeseriesRoute, { body })
  await record(getFlowGraphRoute, { body: { ...window, group_by: ['remote_asn', 'protocol'], limit: 2 } })
}
