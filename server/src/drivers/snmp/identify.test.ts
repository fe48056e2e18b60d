// Vendor, model, serial number and software from the descriptions of real systems, the scalars of vendors and ENTITY-MIB.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import { snmpValue } from '../../../../lab/src/snmp-ber.ts'
import type { SnmpRecord } from '../../../../lab/src/snmp-records.ts'
import { entPhysical, system } from './oids.ts'
import { createSnmpSource } from './source.ts'

async function identify(objectId: string, description: string, others: readonly SnmpRecord[] = []) {
  const agent = await startSnmpAgent([
    [system.sysDescr, snmpValue.text(description)],
    [system.sysObjectID, snmpValue.oid(objectId)],
    ...others,
  ])
  const credential = { kind: 'v2c', community: 'public' } as const
  const source = createSnmpSource({ address: '127.0.0.1', port: agent.port, credential })
  try {
    const { vendor, model, serial, software } = await source.probe(new AbortController().signal)
    return [vendor, model, serial, software]
  } finally {
    await source.close()
    agent.close()
  }
}

describe('the identity of a device', () => {
  const descriptions: readonly (readonly [
    objectId: string,
    description: string,
    expected: readonly (string | null)[],
  ])[] = [
    [
      '1.3.6.1.4.1.30065.1.3011',
      'Arista Networks EOS version 4.26.5M running on an Arista Networks DCS-7280SR-48C6',
      ['Arista', 'DCS-7280SR-48C6', null, '4.26.5M'],
    ],
    [
      '1.3.6.1.4.1.30065.1.2759',
      'Arista Networks EOS version 4.33.1F running on an Arista vEOS-lab',
      ['Arista', 'vEOS-lab', null, '4.33.1F'],
    ],
    [
      '1.3.6.1.4.1.2636.1.1.1.2.25',
      'Juniper Networks, Inc. mx480 internet router, kernel JUNOS 18.4R2-S3, Build date: 2019-12-21',
      ['Juniper', 'mx480', null, '18.4R2-S3'],
    ],
    [
      '1.3.6.1.4.1.9.1.1709',
      'Cisco IOS XR Software (Cisco ASR9K Series),  Version 6.4.2[Default]\r\nCopyright (c) 2019 by Cisco Systems, Inc.',
      ['Cisco', null, null, '6.4.2'],
    ],
    [
      '1.3.6.1.4.1.9.1.1208',
      'Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(7)E3, RELEASE SOFTWARE (fc3)',
      ['Cisco', null, null, '15.2(7)E3'],
    ],
    [
      '1.3.6.1.4.1.6527.1.3.15',
      'TiMOS-C-20.10.R3 cpm/hops64 Nokia 7750 SR Copyright (c) 2000-2020 Nokia.',
      ['Nokia', '7750 SR', null, 'C-20.10.R3'],
    ],
    ['1.3.6.1.4.1.14988.1', 'RouterOS CCR1036-8G-2S+', ['MikroTik', 'CCR1036-8G-2S+', null, null]],
    ['1.3.6.1.4.1.99999.1', 'A switch, version 2.0', [null, null, null, '2.0']],
    ['0.0', 'A switch', [null, null, null, null]],
  ]
  for (const [objectId, description, expected] of descriptions)
    it(`is read from "${description.slice(0, 40)}"`, async () => {
      assert.deepEqual(await identify(objectId, description), expected)
    })

  it('is read from the first chassis of ENTITY-MIB, else from the scalars of the vendor', async () => {
    const chassis: readonly SnmpRecord[] = [
      [`${entPhysical.class}.1`, snmpValue.integer(11)],
      [`${entPhysical.class}.1001`, snmpValue.integer(3)],
      [`${entPhysical.class}.2001`, snmpValue.integer(3)],
      [`${entPhysical.modelName}.1`, snmpValue.text('stack')],
      [`${entPhysical.modelName}.1001`, snmpValue.text('WS-C3850-48T')],
      [`${entPhysical.serialNum}.1001`, snmpValue.text('FOC1')],
      [`${entPhysical.serialNum}.2001`, snmpValue.text('FOC2')],
    ]
    assert.deepEqual(await identify('1.3.6.1.4.1.9.1.1745', 'Cisco IOS Software, Version 16.9.4', chassis), [
      'Cisco',
      'WS-C3850-48T',
      'FOC1',
      '16.9.4',
    ])
    const mikrotik: readonly SnmpRecord[] = [
      ['1.3.6.1.4.1.14988.1.1.4.4.0', snmpValue.text('6.49.7')],
      ['1.3.6.1.4.1.14988.1.1.7.3.0', snmpValue.text('A1B2')],
    ]
    const found = await identify('1.3.6.1.4.1.14988.1', 'RouterOS CCR1036', mikrotik)
    assert.deepEqual(found, ['MikroTik', 'CCR1036', 'A1B2', '6.49.7'])
  })
})
