// Requests of clients of the PowerDNS API, in the order in which each sends them, with the fields of the answers that
// each reads. Written from the descriptions of the clients; `key` and the addresses are replaced by the test.
export type ClientRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly status: number
  /** Paths into the answer and the values that the client needs there. */
  readonly reads?: Readonly<Record<string, unknown>>
}

const zones = '/api/v1/servers/localhost/zones'
const record = (content: string) => ({ content, disabled: false })

export const clients: Readonly<Record<string, readonly ClientRequest[]>> = {
  'octodns-powerdns': [
    { method: 'GET', path: '/api/v1/servers/localhost', status: 200, reads: { version: '4.9.12' } },
    {
      method: 'GET',
      path: '/api/v1/servers/localhost/config',
      status: 200,
      reads: { '0.type': 'ConfigSetting' },
    },
    { method: 'GET', path: `${zones}/octo.example.`, status: 404 },
    {
      method: 'POST',
      path: zones,
      body: {
        name: 'octo.example.',
        kind: 'Master',
        masters: [],
        nameservers: [],
        soa_edit_api: 'INCEPTION-INCREMENT',
        rrsets: [
          {
            name: 'octo.example.',
            type: 'NS',
            ttl: 3600,
            changetype: 'REPLACE',
            records: [record('ns1.example.net.'), record('ns2.example.net.')],
          },
          {
            name: 'www.octo.example.',
            type: 'A',
            ttl: 300,
            changetype: 'REPLACE',
            records: [record('192.0.2.1'), record('192.0.2.2')],
          },
        ],
      },
      status: 201,
      reads: { kind: 'Master', soa_edit_api: 'INCEPTION-INCREMENT' },
    },
    {
      method: 'PATCH',
      path: `${zones}/octo.example.`,
      body: {
        rrsets: [
          { name: 'www.octo.example.', type: 'A', ttl: 300, changetype: 'DELETE' },
          {
            name: 'octo.example.',
            type: 'TXT',
            ttl: 600,
            changetype: 'REPLACE',
            records: [record('"v=spf1 -all"')],
          },
        ],
      },
      status: 204,
    },
    {
      method: 'PUT',
      path: `${zones}/octo.example./notify`,
      status: 200,
      reads: { result: 'Notification queued' },
    },
    { method: 'GET', path: `${zones}/octo.example.`, status: 200, reads: { 'rrsets.length': 3 } },
  ],
  dnscontrol: [
    { method: 'GET', path: zones, status: 200 },
    {
      method: 'POST',
      path: zones,
      body: {
        name: 'control.example.',
        kind: 'Native',
        dnssec: false,
        nameservers: ['ns1.example.net.', 'ns2.example.net.'],
        soa_edit_api: '',
      },
      status: 201,
      reads: { kind: 'Native', dnssec: false },
    },
    { method: 'GET', path: `${zones}/control.example.`, status: 200, reads: { 'rrsets.0.type': 'NS' } },
    {
      method: 'PATCH',
      path: `${zones}/control.example.`,
      body: {
        rrsets: [
          {
            name: 'control.example.',
            type: 'MX',
            ttl: 300,
            changetype: 'REPLACE',
            records: [record('10 mx1.control.example.'), record('20 mx2.control.example.')],
          },
        ],
      },
      status: 204,
    },
    { method: 'GET', path: `${zones}/control.example./cryptokeys`, status: 200, reads: { length: 0 } },
    {
      method: 'POST',
      path: `${zones}/control.example./cryptokeys`,
      body: { keytype: 'csk', active: true, algorithm: 'ecdsa256' },
      status: 201,
      reads: { keytype: 'csk', flags: 257, algorithm: 'ECDSAP256SHA256', active: true },
    },
    {
      method: 'GET',
      path: `${zones}/control.example./cryptokeys`,
      status: 200,
      reads: { length: 1, '0.ds.length': 2 },
    },
  ],
  'external-dns': [
    { method: 'GET', path: `${zones}`, status: 200 },
    {
      method: 'POST',
      path: zones,
      body: { name: 'k8s.example.', kind: 'Native', nameservers: [] },
      status: 201,
    },
    {
      method: 'PATCH',
      path: `${zones}/k8s.example.`,
      body: {
        id: 'k8s.example.',
        name: 'k8s.example.',
        kind: 'Native',
        rrsets: [
          {
            name: 'app.k8s.example.',
            type: 'A',
            ttl: 300,
            changetype: 'REPLACE',
            records: [{ content: '192.0.2.9', disabled: false, 'set-ptr': false }],
            comments: [],
          },
          {
            name: 'a-app.k8s.example.',
            type: 'TXT',
            ttl: 300,
            changetype: 'REPLACE',
            records: [record('"heritage=external-dns,external-dns/owner=k8s"')],
            comments: [],
          },
        ],
      },
      status: 204,
    },
    { method: 'GET', path: `${zones}/k8s.example.`, status: 200, reads: { 'rrsets.length': 4 } },
    {
      method: 'PATCH',
      path: `${zones}/k8s.example.`,
      body: {
        rrsets: [{ name: 'app.k8s.example.', type: 'A', changetype: 'DELETE', records: [], comments: [] }],
      },
      status: 204,
    },
  ],
  'terraform-powerdns': [
    { method: 'GET', path: '/api/v1/servers', status: 200, reads: { '0.id': 'localhost' } },
    {
      method: 'POST',
      path: zones,
      body: {
        id: '',
        name: 'terra.example.',
        url: '',
        kind: 'Native',
        dnssec: false,
        serial: 0,
        masters: [],
        nameservers: ['ns1.example.net.'],
        soa_edit_api: 'DEFAULT',
        account: 'admin',
      },
      status: 201,
    },
    {
      method: 'GET',
      path: `${zones}/terra.example.`,
      status: 200,
      reads: { kind: 'Native', account: 'admin', soa_edit_api: 'DEFAULT', id: 'terra.example.' },
    },
    {
      method: 'PATCH',
      path: `${zones}/terra.example.`,
      body: {
        rrsets: [
          {
            name: 'db.terra.example.',
            type: 'CNAME',
            ttl: 3600,
            changetype: 'REPLACE',
            records: [
              { ...record('host.terra.example.'), name: 'db.terra.example.', type: 'CNAME', ttl: 3600 },
            ],
          },
        ],
      },
      status: 204,
    },
    {
      method: 'GET',
      path: `${zones}/terra.example.?rrset_name=db.terra.example.&rrset_type=CNAME`,
      status: 200,
      reads: { 'rrsets.0.records.0.content': 'host.terra.example.', 'rrsets.0.ttl': 3600 },
    },
    { method: 'PUT', path: `${zones}/terra.example.`, body: { kind: 'Master', account: 'ops' }, status: 204 },
    {
      method: 'GET',
      path: `${zones}/terra.example.?rrsets=false`,
      status: 200,
      reads: { kind: 'Master', account: 'ops' },
    },
    { method: 'DELETE', path: `${zones}/terra.example.`, status: 204 },
    { method: 'GET', path: `${zones}/terra.example.`, status: 404 },
  ],
}
