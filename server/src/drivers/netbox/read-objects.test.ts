// The objects read from a NetBox of each form, and from a NetBox without the tag of ports.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createNetboxClient } from './client.ts'
import { parseServiceTypes, type NetboxMapping } from './mapping.ts'
import { readObjects } from './read-objects.ts'
import * as fake from './testing-netbox.ts'
import { toEntries } from './to-entries.ts'

const mapping: NetboxMapping = {
  deviceFilter: [],
  portTag: 'pharos',
  countryField: 'country',
  circuitField: 'circuit',
  portIdField: 'port_circuit_id',
  serviceTypes: parseServiceTypes([], ['transit']),
}

let netbox: fake.TestNetbox
before(async () => void (netbox = await fake.startTestNetbox({})))
after(() => netbox[Symbol.asyncDispose]())

async function imported(lists: fake.TestLists) {
  Object.assign(netbox.lists, lists)
  const client = createNetboxClient({ url: netbox.url, token: 'token', retryMs: 1 })
  const objects = await readObjects(client, mapping, AbortSignal.timeout(10_000))
  const existing = { teams: new Set(['demo']), locations: new Set<string>(), ports: new Map() }
  return toEntries(objects, existing, mapping)
}

describe('the objects of NetBox', () => {
  for (const version of fake.netboxVersions)
    it(`are read in the form of ${version}`, async () => {
      const { document } = await imported(fake.inForm(version, fake.smallWorld()))
      assert.deepEqual(
        document.devices.map(({ role, vendor, address }) => [role, vendor, address]),
        [['edge', 'Juniper', '192.0.2.1']],
      )
      assert.deepEqual(
        document.services.map(({ name, commit_bps }) => [name, commit_bps]),
        [['C-1', 10_000_000_000]],
      )
      assert.deepEqual(
        document.ports.map(({ circuit_id, speed_bps, service }) => [circuit_id, speed_bps, service]),
        [
          ['r1.ams et-0/0/1', version === '4.6' ? 3_200_000_000_000 : 100_000_000_000, 'C-1'],
          ['r1.ams et-0/0/3', undefined, null],
        ],
      )
    })

  it('have no interface with a tag that does not exist', async () => {
    const lists = fake.smallWorld()
    const withoutTag = lists['dcim/interfaces']!.map((row) => ({ ...row, tags: [] }))
    const { document, notices } = await imported({ ...lists, 'dcim/interfaces': withoutTag })
    assert.deepEqual(
      document.ports.map(({ interface: name }) => name),
      ['et-0/0/1'],
    )
    assert.ok(notices.includes('tag pharos: it does not exist in NetBox: no interface is a port by its tag'))
  })

  it('are not read if a filter of devices is rejected', async () => {
    const filtered = { ...mapping, deviceFilter: [['tag', 'nowhere']] as const }
    const client = createNetboxClient({ url: netbox.url, token: 'token', retryMs: 1 })
    await assert.rejects(readObjects(client, filtered, AbortSignal.timeout(10_000)), {
      message: /dcim\/devices\/: HTTP status 400: .*nowhere is not one of the available choices/,
    })
  })
})
