// The recordings of optics, served by the replay agent and read through the source: the same modules and readings as from the tables
// themselves.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import { parseSnmprec } from '../../../../lab/src/snmp-records.ts'
import type { SeenTransceiver } from '../../inventory/collect/device-source.ts'
import { createSnmpSource } from './source.ts'

const folder = join(import.meta.dirname, 'optics/recordings')
const { signal } = new AbortController()

type Expected = {
  readonly transceivers: readonly SeenTransceiver[]
  readonly readings: readonly (readonly [interfaceKey: string, lane: number, ...(number | null)[]])[]
}

describe('recorded devices', () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.snmprec')))
    it(`reads ${file} over the network`, async () => {
      const expected = JSON.parse(
        readFileSync(join(folder, file.replace('.snmprec', '.json')), 'utf8'),
      ) as Expected
      await using stack = new AsyncDisposableStack()
      const agent = await startSnmpAgent(parseSnmprec(readFileSync(join(folder, file), 'utf8')))
      stack.defer(() => agent.close())
      const credential = { kind: 'v2c', community: 'public' } as const
      const source = createSnmpSource({ address: '127.0.0.1', port: agent.port, credential })
      stack.defer(() => source.close())
      assert.deepEqual(sorted(await source.listTransceivers(signal)), sorted(expected.transceivers))
      const readings = (await source.readOptics(signal)).map((one) => [
        one.interfaceKey,
        one.lane,
        one.rxDbm,
        one.txDbm,
        one.biasMa,
        one.temperatureC,
        one.voltageV,
        ...(one.preFecBer === null ? [] : [one.preFecBer]),
      ])
      assert.deepEqual(readings.sort(), [...expected.readings].sort())
    })
})

const sorted = (modules: readonly SeenTransceiver[]) =>
  modules.toSorted((one, other) => one.interfaceKey.localeCompare(other.interfaceKey))
