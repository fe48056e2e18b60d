// Zones and names of addresses for tests and screenshots, created through the API.
import { createClient } from '@pharos/contract/client'
import { createZoneRoute } from '@pharos/contract/dns/zone'
import { createRecordSetsRoute } from '@pharos/contract/dns/recordset'
import { updatePtrRecordsRoute } from '@pharos/contract/dns/ptr'

type Call = ReturnType<typeof createClient>

/** Call it once for each demo. */
export async function fillDns(call: Call): Promise<void> {
  await call(createZoneRoute, { body: { name: 'demo-networks.example' } })
  await call(createRecordSetsRoute, {
    params: { zone: 'demo-networks.example' },
    body: [
      { name: '@', type: 'MX', ttl: 3600, records: ['10 mail', '20 mx.example.net.'] },
      { name: '@', type: 'TXT', ttl: 3600, records: ['v=spf1 mx -all'] },
      { name: '@', type: 'A', ttl: 300, records: ['203.0.113.10'] },
      { name: '@', type: 'CAA', ttl: 3600, records: ['0 issue "ca.example.net"'] },
      {
        name: 'mail',
        type: 'A',
        ttl: 3600,
        records: ['198.51.100.25'],
        comment: 'Until the move to Frankfurt',
      },
      { name: 'mail', type: 'AAAA', ttl: 3600, records: ['2001:db8:c::25'] },
      { name: 'www', type: 'A', ttl: 300, records: ['203.0.113.10', '203.0.113.11'] },
      { name: 'www', type: 'AAAA', ttl: 300, records: ['2001:db8:a::10'] },
      { name: 'blog', type: 'CNAME', ttl: 3600, records: ['www'] },
      { name: '_sip._tcp', type: 'SRV', ttl: 3600, records: ['10 5 5060 sip.example.net.'] },
    ],
  })
  await call(createZoneRoute, { body: { name: 'lab.demo-networks.example', dnssec: false } })
  await call(createZoneRoute, {
    body: { name: 'partner.example', kind: 'secondary', primaries: [{ address: '192.0.2.53' }] },
  })
  await call(updatePtrRecordsRoute, {
    body: {
      records: Array.from({ length: 24 }, (_, at) => ({
        ip: `203.0.113.${at * 3 + 1}`,
        ptrdname: `host${at}.demo-networks.example`,
      })),
      templates: [{ cidr: '198.51.100.0/25', pattern: '{ip-dashed}.pool.demo-networks.example' }],
    },
  })
}
