// The conversion of NetBox's objects: units, names, states and references; and for arbitrary objects of the schemas, that it does
// not throw and makes unique keys.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseDeviceFilter, parseNetboxUrl, parseServiceTypes, type NetboxMapping } from './mapping.ts'
import * as fake from './testing-netbox.ts'
import { toEntries, type NetboxObjects } from './to-entries.ts'
import { scaled } from '../../runtime/testing-scale.ts'

const mapping: NetboxMapping = {
  deviceFilter: [],
  portTag: 'pharos',
  countryField: 'country',
  circuitField: 'circuit',
  portIdField: 'port_circuit_id',
  serviceTypes: parseServiceTypes(['ip-transit=transit'], ['transit', 'cross_connect']),
}
const existing = { teams: new Set(['demo']), locations: new Set<string>(), ports: new Map<string, string>() }

function objectsOf(lists: fake.TestLists): NetboxObjects {
  return {
    sites: lists['dcim/sites'],
    devices: lists['dcim/devices'],
    circuits: lists['circuits/circuits'],
    terminations: lists['circuits/circuit-terminations'],
    interfaces: lists['dcim/interfaces'],
  } as unknown as NetboxObjects
}

const convert = (changes: fake.TestLists = {}) =>
  toEntries(objectsOf({ ...fake.smallWorld(), ...changes }), existing, mapping)

describe('the conversion', () => {
  it('makes a document of the small world: bits per second, no unnamed device, no circuit of the provider', () => {
    const { document, notices } = convert()
    assert.deepEqual(document, {
      locations: [{ key: 'ams1', name: 'ams1', country: 'NL', timezone: 'Europe/Amsterdam' }],
      devices: [
        {
          name: 'r1.ams',
          role: 'edge',
          vendor: 'Juniper',
          model: 'MX204',
          serial: 'SN1',
          location: 'ams1',
          address: '192.0.2.1',
          tags: ['a', 'b'],
          external_ref: 'netbox:device:1',
        },
      ],
      services: [
        {
          team: 'demo',
          name: 'C-1',
          type: 'transit',
          state: 'production',
          commit_bps: 10_000_000_000,
          start_date: '2026-01-31',
          external_ref: 'netbox:circuit:1',
        },
      ],
      ports: [
        {
          circuit_id: 'r1.ams et-0/0/1',
          device: 'r1.ams',
          interface: 'et-0/0/1',
          media: 'QSFP28 (100GE)',
          speed_bps: 100_000_000_000,
          description: '',
          external_ref: 'netbox:interface:11',
          team: 'demo',
          service: 'C-1',
        },
        {
          circuit_id: 'r1.ams et-0/0/3',
          device: 'r1.ams',
          interface: 'et-0/0/3',
          media: 'QSFP28 (100GE)',
          description: '',
          external_ref: 'netbox:interface:13',
          service: null,
        },
      ],
    })
    assert.deepEqual(notices, ['device 2: not imported: it has no name'])
  })

  it('has a state for each status of NetBox, and keeps it for others', () => {
    const statuses = [
      'planned',
      'provisioning',
      'active',
      'offline',
      'deprovisioning',
      'decommissioned',
      'own',
    ]
    const { document, notices } = convert({
      'circuits/circuits': statuses.map((value, at) =>
        fake.circuit(at + 1, value, 'demo', { status: { value, label: value } }),
      ),
    })
    assert.deepEqual(
      document.services.map(({ state }) => state),
      [
        'requested',
        'allocated',
        'production',
        'error',
        'decommission_requested',
        'decommissioned',
        undefined,
      ],
    )
    assert.ok(notices.includes('circuit own: the status own is not known; the state is kept'))
  })

  it('leaves out what it cannot import, with the reason', () => {
    const { document, notices } = convert({
      'dcim/sites': [fake.site(1, 'ams1', { custom_fields: { country: null }, time_zone: null })],
      'dcim/devices': [fake.netboxDevice(1, 'r1'), fake.netboxDevice(2, 'r1', { primary_ip: null })],
      'circuits/circuits': [
        fake.circuit(1, 'C-1', 'other'),
        fake.circuit(2, 'C-1', 'other'),
        fake.circuit(3, 'C-1', 'demo', { type: { slug: 'dark-fibre' } }),
        fake.circuit(4, 'C-2', 'demo'),
        fake.circuit(5, 'C-2', 'demo'),
      ],
    })
    assert.deepEqual(
      [document.locations.length, document.devices.length, document.services.length, document.ports.length],
      [0, 1, 1, 1],
    )
    assert.equal(document.devices[0]!['location'], undefined)
    assert.deepEqual(notices, [
      'site ams1: not imported: the custom field country is not a country such as NL',
      'device 2: not imported: another device is named r1',
      'circuit 5: not imported: demo has another circuit C-2',
      'tenant other: 2 circuits not imported: no team has this slug',
      'circuit type dark-fibre: 1 circuit not imported: no service type is set for it (netbox_service_types)',
    ])
  })

  for (const circuit of ['C-1', { id: 1, cid: 'C-1' }])
    it(`takes circuit and circuit id of a port from custom fields: ${JSON.stringify(circuit)}`, () => {
      const { document } = convert({
        'circuits/circuit-terminations': [fake.termination(1, 1, null)],
        'dcim/interfaces': [
          fake.networkInterface(11, 1, 'et-1', {
            ...fake.withTags('pharos'),
            custom_fields: { circuit, port_circuit_id: 'AMS-1' },
          }),
        ],
      })
      const [{ circuit_id, team, service } = {}] = document.ports
      assert.deepEqual([circuit_id, team, service], ['AMS-1', 'demo', 'C-1'])
    })

  it('keeps the circuit id of the port that exists at the interface, unless it moved there', () => {
    const ports = new Map([
      ['r1.ams et-0/0/1', 'OLD-1'],
      ['r1.ams et-0/0/9', 'MOVED'],
    ])
    const idOf = (port_circuit_id: string | null) => {
      const interfaces = [fake.networkInterface(11, 1, 'et-0/0/1', { custom_fields: { port_circuit_id } })]
      const objects = objectsOf({ ...fake.smallWorld(), 'dcim/interfaces': interfaces })
      const { document, notices } = toEntries(objects, { ...existing, ports }, mapping)
      return [document.ports[0]!['circuit_id'], notices.filter((text) => text.startsWith('interface'))]
    }
    assert.deepEqual(idOf(null), ['OLD-1', []])
    assert.deepEqual(idOf('MOVED'), ['MOVED', []])
    assert.deepEqual(idOf('NEW'), [
      'OLD-1',
      ['interface 11: the circuit id is NEW in NetBox; the port keeps OLD-1'],
    ])
  })

  it('takes the circuit with the lowest id of an interface that has several, whatever their order', () => {
    const circuits = [fake.circuit(1, 'C-1', 'demo'), fake.circuit(2, 'C-2', 'demo')]
    const ends = [fake.termination(1, 1, [11, 1]), fake.termination(2, 2, [11, 1])]
    for (const terminations of [ends, ends.toReversed()]) {
      const { document } = convert({
        'circuits/circuits': circuits,
        'circuits/circuit-terminations': terminations,
      })
      assert.equal(document.ports[0]!['service'], 'C-1')
    }
  })

  it('never throws and makes unique keys, for arbitrary objects', () => {
    const word = fc.constantFrom('a', 'b', '', 'A b', 'demo', '__proto__', 'pharos')
    const id = fc.integer({ min: 1, max: 6 })
    const rate = fc.option(fc.integer({ min: 0, max: 2_147_483_647 }))
    const slugged = fc.record({ slug: word })
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('NL', 'a'))
    const fields = fc.dictionary(fc.constantFrom('country', 'circuit', 'port_circuit_id'), value)
    const many = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 6 })
    const objects = fc.record({
      sites: fc.uniqueArray(
        fc.record({ id, name: word, slug: word, time_zone: fc.option(word), custom_fields: fields }),
        {
          selector: ({ slug }) => slug,
        },
      ),
      devices: many(
        fc.record({
          id,
          name: fc.option(word),
          role: slugged,
          device_type: fc.record({ model: word, manufacturer: fc.record({ name: word }) }),
          serial: word,
          site: slugged,
          primary_ip: fc.option(fc.record({ address: word })),
          tags: many(slugged),
        }),
      ),
      circuits: many(
        fc.record({
          id,
          cid: word,
          type: fc.record({ slug: fc.constantFrom('transit', 'x') }),
          status: fc.record({ value: word }),
          tenant: fc.option(slugged),
          commit_rate: rate,
          install_date: fc.option(word),
          termination_date: fc.option(word),
        }),
      ),
      terminations: many(
        fc.record({
          id,
          circuit: fc.record({ id }),
          link_peers_type: fc.option(fc.constantFrom('dcim.interface', 'dcim.frontport')),
          link_peers: many(fc.record({ id, device: fc.option(fc.record({ id })) })),
        }),
      ),
      interfaces: many(
        fc.record({
          id,
          name: word,
          device: fc.record({ id }),
          type: fc.record({ label: word }),
          speed: rate,
          description: word,
          tags: many(slugged),
          custom_fields: fields,
        }),
      ),
    })
    fc.assert(
      fc.property(objects, (given) => {
        const { document } = toEntries(given as NetboxObjects, existing, mapping)
        const keys = {
          locations: (one: Readonly<Record<string, unknown>>) => one['key'],
          devices: (one) => one['name'],
          services: (one) => `${one['team']} ${one['name']}`,
          ports: (one) => one['circuit_id'],
        } satisfies Record<string, (one: Readonly<Record<string, unknown>>) => unknown>
        for (const [section, keyOf] of Object.entries(keys)) {
          const all = document[section as keyof typeof document].map(keyOf)
          assert.equal(new Set(all).size, all.length, section)
        }
        const services = new Set(document.services.map(keys.services))
        const devices = new Set(document.devices.map(keys.devices))
        for (const port of document.ports) {
          assert.ok(devices.has(port['device']))
          assert.ok(port['service'] === null || services.has(`${port['team']} ${port['service']}`))
        }
      }),
      { numRuns: scaled(2_000) },
    )
  })
})

describe('the settings', () => {
  it('are rejected if they could not be meant', () => {
    assert.throws(() => parseDeviceFilter('limit=1'), /limit is not a filter/)
    assert.deepEqual(parseDeviceFilter('status=active&role=a'), [
      ['status', 'active'],
      ['role', 'a'],
    ])
    assert.throws(() => parseServiceTypes(['x=y'], ['transit']), /x=y is not/)
    assert.equal(parseServiceTypes([], ['cross_connect']).get('cross-connect'), 'cross_connect')
    for (const text of ['netbox', 'ftp://x', 'https://u:p@x', 'https://x/api/', 'https://x/?a'])
      assert.throws(() => parseNetboxUrl(text), Error, text)
    assert.equal(parseNetboxUrl('https://x/netbox').pathname, '/netbox')
  })
})
