// BGP sessions of tables of each MIB, written from the MIBs, served by the replay agent.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startSnmpAgent } from '../../../../lab/src/snmp-agent.ts'
import { parseSnmprec } from '../../../../lab/src/snmp-records.ts'
import type { SeenBgpSession } from '../../inventory/collect/device-source.ts'
import { createSnmpSource } from './source.ts'

const v6 = '32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.2'
const hex6 = '20010db8000000000000000000000002'

const juniper = `
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.2.0.1.192.0.2.129.1.192.0.2.130|2|6
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.2.4.2.${v6}.2.${v6}|2|3
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.3.0.1.192.0.2.129.1.192.0.2.130|2|2
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.3.4.2.${v6}.2.${v6}|2|2
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.11.0.1.192.0.2.129.1.192.0.2.130|4x|c0000282
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.11.4.2.${v6}.2.${v6}|4x|${hex6}
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.13.0.1.192.0.2.129.1.192.0.2.130|66|64496
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.13.4.2.${v6}.2.${v6}|66|4200000000
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.14.0.1.192.0.2.129.1.192.0.2.130|66|7
1.3.6.1.4.1.2636.5.1.1.2.1.1.1.14.4.2.${v6}.2.${v6}|66|9
1.3.6.1.4.1.2636.5.1.1.2.2.1.1.1.0.1.192.0.2.129.1.192.0.2.130|4x|0602
1.3.6.1.4.1.2636.5.1.1.2.2.1.1.1.4.2.${v6}.2.${v6}|4x|0000
1.3.6.1.4.1.2636.5.1.1.2.2.1.1.5.0.1.192.0.2.129.1.192.0.2.130|4|Administratively Shutdown
1.3.6.1.4.1.2636.5.1.1.2.4.1.1.1.0.1.192.0.2.129.1.192.0.2.130|66|3600
1.3.6.1.4.1.2636.5.1.1.2.4.1.1.1.4.2.${v6}.2.${v6}|66|0
1.3.6.1.4.1.2636.5.1.1.2.6.2.1.7.7.1.1|66|12
1.3.6.1.4.1.2636.5.1.1.2.6.2.1.7.7.1.2|66|99
1.3.6.1.4.1.2636.5.1.1.2.6.2.1.7.9.2.1|66|0`

const arista = `
1.3.6.1.4.1.30065.4.1.1.2.1.10.1.1.4.192.0.2.130|66|64496
1.3.6.1.4.1.30065.4.1.1.2.1.12.1.1.4.192.0.2.130|2|2
1.3.6.1.4.1.30065.4.1.1.2.1.13.1.1.4.192.0.2.130|2|1
1.3.6.1.4.1.30065.4.1.1.3.1.1.1.1.4.192.0.2.130|66|6
1.3.6.1.4.1.30065.4.1.1.3.1.2.1.1.4.192.0.2.130|66|4
1.3.6.1.4.1.30065.4.1.1.3.1.3.1.1.4.192.0.2.130|67|100
1.3.6.1.4.1.30065.4.1.1.3.1.6.1.1.4.192.0.2.130|66|6
1.3.6.1.4.1.30065.4.1.1.3.1.7.1.1.4.192.0.2.130|66|1
1.3.6.1.4.1.30065.4.1.1.3.1.8.1.1.4.192.0.2.130|67|200
1.3.6.1.4.1.30065.4.1.1.3.1.9.1.1.4.192.0.2.130|4|maximum number of prefixes
1.3.6.1.4.1.30065.4.1.1.4.1.1.1.1.4.192.0.2.130|66|60
1.3.6.1.4.1.30065.4.1.1.8.1.3.1.1.4.192.0.2.130.1.1|66|51`

const cisco = `
1.3.6.1.2.1.15.3.1.2.192.0.2.130|2|6
1.3.6.1.4.1.9.9.187.1.2.5.1.3.1.4.192.0.2.130|2|6
1.3.6.1.4.1.9.9.187.1.2.5.1.3.2.16.${v6}|2|1
1.3.6.1.4.1.9.9.187.1.2.5.1.4.1.4.192.0.2.130|2|2
1.3.6.1.4.1.9.9.187.1.2.5.1.4.2.16.${v6}|2|1
1.3.6.1.4.1.9.9.187.1.2.5.1.11.1.4.192.0.2.130|66|64496
1.3.6.1.4.1.9.9.187.1.2.5.1.17.1.4.192.0.2.130|4x|0400
1.3.6.1.4.1.9.9.187.1.2.5.1.19.1.4.192.0.2.130|66|7200
1.3.6.1.4.1.9.9.187.1.2.5.1.28.1.4.192.0.2.130|4|hold time expired
1.3.6.1.4.1.9.9.187.1.2.8.1.1.1.4.192.0.2.130.1.1|65|40
1.3.6.1.4.1.9.9.187.1.2.8.1.3.1.4.192.0.2.130.1.1|66|50`

/** Two VRFs with the same neighbor, and the default one, which is in the other table too. */
const ciscoVrfs = `${cisco}
1.3.6.1.4.1.9.9.187.1.2.9.1.4.1.1.4.192.0.2.130|4|default
1.3.6.1.4.1.9.9.187.1.2.9.1.4.7.1.4.192.0.2.130|4|red
1.3.6.1.4.1.9.9.187.1.2.9.1.4.9.2.16.${v6}|4|blue
1.3.6.1.4.1.9.9.187.1.2.9.1.5.1.1.4.192.0.2.130|2|6
1.3.6.1.4.1.9.9.187.1.2.9.1.5.7.1.4.192.0.2.130|2|3
1.3.6.1.4.1.9.9.187.1.2.9.1.5.9.2.16.${v6}|2|6
1.3.6.1.4.1.9.9.187.1.2.9.1.6.7.1.4.192.0.2.130|2|2
1.3.6.1.4.1.9.9.187.1.2.9.1.6.9.2.16.${v6}|2|2
1.3.6.1.4.1.9.9.187.1.2.9.1.13.7.1.4.192.0.2.130|66|64497
1.3.6.1.4.1.9.9.187.1.2.9.1.13.9.2.16.${v6}|66|4200000000
1.3.6.1.4.1.9.9.187.1.2.9.1.19.7.1.4.192.0.2.130|4x|0602
1.3.6.1.4.1.9.9.187.1.2.9.1.21.9.2.16.${v6}|66|90
1.3.6.1.4.1.9.9.187.1.2.9.1.30.7.1.4.192.0.2.130|4|administrative shutdown`

const standard = `
1.3.6.1.2.1.15.3.1.2.192.0.2.130|2|6
1.3.6.1.2.1.15.3.1.3.192.0.2.130|2|2
1.3.6.1.2.1.15.3.1.9.192.0.2.130|2|23456
1.3.6.1.2.1.15.3.1.14.192.0.2.130|4x|0000
1.3.6.1.2.1.15.3.1.16.192.0.2.130|66|10`

async function sessions(t: TestContext, records: string): Promise<readonly SeenBgpSession[]> {
  const agent = await startSnmpAgent(parseSnmprec(records))
  t.after(() => agent.close())
  const credential = { kind: 'v2c', community: 'public' } as const
  const source = createSnmpSource({ address: '127.0.0.1', port: agent.port, credential })
  t.after(() => source.close())
  return source.readBgpSessions(new AbortController().signal)
}

describe('the BGP sessions of a device', () => {
  it('are read from BGP4-V2-MIB-JUNIPER, by routing instance', async (t) => {
    assert.deepEqual(await sessions(t, juniper), [
      {
        instance: '0',
        peer: '192.0.2.130',
        peerAsn: 64_496,
        state: 'established',
        establishedSeconds: 3_600,
        prefixes: [{ family: 'ipv4', received: 12, limit: null }],
        error: { code: 6, subcode: 2, text: 'Administratively Shutdown' },
      },
      {
        instance: '4',
        peer: '2001:db8::2',
        peerAsn: 4_200_000_000,
        state: 'active',
        establishedSeconds: null,
        prefixes: [{ family: 'ipv6', received: 0, limit: null }],
        error: null,
      },
    ])
  })

  it('are read from ARISTA-BGP4V2-MIB, with the later of both errors', async (t) => {
    assert.deepEqual(await sessions(t, arista), [
      {
        instance: '1',
        peer: '192.0.2.130',
        peerAsn: 64_496,
        state: 'idle',
        establishedSeconds: 60,
        prefixes: [{ family: 'ipv4', received: 51, limit: null }],
        error: { code: 6, subcode: 1, text: 'maximum number of prefixes' },
      },
    ])
  })

  it('are read from CISCO-BGP4-MIB before BGP4-MIB, with the limit of prefixes', async (t) => {
    assert.deepEqual(await sessions(t, cisco), [
      {
        instance: '',
        peer: '192.0.2.130',
        peerAsn: 64_496,
        state: 'established',
        establishedSeconds: 7_200,
        prefixes: [{ family: 'ipv4', received: 40, limit: 50 }],
        error: { code: 4, subcode: 0, text: 'hold time expired' },
      },
      {
        instance: '',
        peer: '2001:db8::2',
        peerAsn: null,
        state: 'disabled',
        establishedSeconds: null,
        prefixes: [],
        error: null,
      },
    ])
  })

  it('of VRFs of Cisco are read beside those of the default instance, each once', async (t) => {
    const all = await sessions(t, ciscoVrfs)
    assert.deepEqual(all.slice(0, 2), await sessions(t, cisco))
    assert.deepEqual(all.slice(2), [
      {
        instance: '7',
        peer: '192.0.2.130',
        peerAsn: 64_497,
        state: 'active',
        establishedSeconds: null,
        prefixes: [],
        error: { code: 6, subcode: 2, text: 'administrative shutdown' },
      },
      {
        instance: '9',
        peer: '2001:db8::2',
        peerAsn: 4_200_000_000,
        state: 'established',
        establishedSeconds: 90,
        prefixes: [],
        error: null,
      },
    ])
  })

  it('of VRFs only leave those of the default instance to BGP4-MIB', async (t) => {
    const only = ciscoVrfs.slice(cisco.length).trim()
    const all = await sessions(t, `${standard.trim()}\n${only}`)
    assert.deepEqual(
      all.map(({ instance, peer, establishedSeconds }) => [instance, peer, establishedSeconds]),
      [
        ['', '192.0.2.130', 10],
        ['7', '192.0.2.130', null],
        ['9', '2001:db8::2', 90],
      ],
    )
  })

  it('are read from BGP4-MIB, in which AS_TRANS is no ASN', async (t) => {
    assert.deepEqual(await sessions(t, standard), [
      {
        instance: '',
        peer: '192.0.2.130',
        peerAsn: null,
        state: 'established',
        establishedSeconds: 10,
        prefixes: [],
        error: null,
      },
    ])
  })

  it('are none of a device without BGP', async (t) => {
    assert.deepEqual(await sessions(t, '1.3.6.1.2.1.2.2.1.2.1|4|lo'), [])
  })
})
