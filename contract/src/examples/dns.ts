// Examples of DNS: a zone of the team, signed and served by two name servers, and reverse DNS of its prefix.
import { exportZoneRoute, ignoredReasons, importZoneRoute } from '../dns/import.ts'
import {
  deletePtrTemplateRoute,
  listPtrRecordsRoute,
  listPtrTemplatesRoute,
  updatePtrRecordsRoute,
  type PtrTemplate,
} from '../dns/ptr.ts'
import {
  changeRecordSetsRoute,
  createRecordSetsRoute,
  deleteRecordSetRoute,
  getRecordSetRoute,
  listRecordSetsRoute,
  updateRecordSetRoute,
  type RecordSet,
} from '../dns/recordset.ts'
import { getZoneSettingsRoute, updateZoneSettingsRoute, type ZoneSettings } from '../dns/settings.ts'
import {
  createTsigKeyRoute,
  deleteTsigKeyRoute,
  getTsigKeyRoute,
  listTsigKeysRoute,
  type TsigKey,
} from '../dns/tsig.ts'
import { getZoneVersionRoute, listZoneVersionsRoute, rollBackZoneRoute } from '../dns/version.ts'
import {
  createZoneRoute,
  deleteZoneRoute,
  getZoneRoute,
  listZonesRoute,
  restoreZoneRoute,
  type Zone,
} from '../dns/zone.ts'
import { example } from '../example.ts'
import { changesBetween } from '../field-change.ts'
import { admin } from './world.ts'

const name = 'lindholm.example'

const zone: Zone = {
  id: 4711,
  name,
  kind: 'primary',
  status: 'ok',
  serial: 1_775_035_812,
  record_count: 9,
  dnssec: 'active',
  nameservers: {
    assigned: ['ns1.example.net.', 'ns2.example.net.'],
    delegated: ['ns1.example.net.', 'ns2.example.net.'],
    delegation_status: 'delegated',
    delegation_last_check: '2026-04-01T09:04:31.204Z',
  },
  created: '2026-03-02T09:14:07.318Z',
  touched: '2026-04-01T09:30:12.004Z',
  published: '2026-04-01T09:30:12.009Z',
}

const fresh: Zone = {
  ...zone,
  status: 'updating',
  serial: null,
  record_count: 4,
  dnssec: 'disabled',
  nameservers: {
    ...zone.nameservers,
    delegated: [],
    delegation_status: 'unknown',
    delegation_last_check: null,
  },
  touched: zone.created,
  published: null,
}

const www: RecordSet = {
  id: 'www/A',
  zone_id: zone.id,
  name: 'www',
  fqdn: `www.${name}.`,
  type: 'A',
  ttl: 3600,
  records: ['203.0.113.80', '203.0.113.81'],
  comment: 'Load balancers',
  managed: false,
  created: '2026-03-02T09:15:21.110Z',
  touched: '2026-04-01T09:30:12.004Z',
}
const earlierWww: RecordSet = { ...www, records: ['203.0.113.80'], touched: www.created }
const newWww: RecordSet = { ...www, created: www.touched }

const inZone = { params: { zone: name } }
const ofWww = { params: { zone: name, name: 'www', type: 'A' } }
const oneVersion = { params: { zone: name, version: 17 } }

const onlyChanged = {
  added: [],
  changed: [{ before: earlierWww, after: www }],
  removed: [],
  added_count: 0,
  changed_count: 1,
  removed_count: 0,
}
const changed = { version: 18, ...onlyChanged, unchanged_count: 0 }
const unchanged = { ...changed, version: 17, changed: [], changed_count: 0, unchanged_count: 1 }
const rolledBack = { ...changed, version: 19, changed: [{ before: www, after: earlierWww }] }

const zonefile = `$ORIGIN ${name}.
$TTL 3600
@    SOA ns1.old.example. hostmaster 2026032901 7200 900 1209600 300
     NS  ns1.old.example.
www  A   203.0.113.80
`
const imported: Zone = { ...fresh, record_count: 5 }
const importAnswer = {
  zone: imported,
  added: [newWww],
  changed: [],
  removed: [],
  added_count: 1,
  changed_count: 0,
  removed_count: 0,
  other_zones: [],
  warnings: [],
  ignored: [
    {
      line: 3,
      reason: 'soa' as const,
      message: ignoredReasons.soa,
      text: `${name}. 3600 IN SOA ns1.old.example. hostmaster.${name}. 2026032901 7200 900 1209600 300`,
    },
    {
      line: 4,
      reason: 'apex_ns' as const,
      message: ignoredReasons.apex_ns,
      text: `${name}. 3600 IN NS ns1.old.example.`,
    },
  ],
  applied: true,
}

const settings: ZoneSettings = {
  default_ttl: 3600,
  minimum_ttl: 300,
  soa: {
    rname: 'hostmaster.example.net.',
    refresh: 3600,
    retry: 900,
    expire: 1_209_600,
    negative_ttl: 300,
  },
  apex_ns_editable: false,
  nameservers: zone.nameservers.assigned,
  also_notify: [],
  allow_transfer: ['192.0.2.53'],
  tsig_key_ids: [3],
  protect_delete: true,
  auto_ptr: false,
  multi_signer: false,
  history_days: 90,
}
const defaultSettings: ZoneSettings = {
  ...settings,
  allow_transfer: [],
  tsig_key_ids: [],
  protect_delete: false,
}

const reverseZone = '113.0.203.in-addr.arpa'
const template: PtrTemplate = {
  id: 12,
  cidr: '203.0.113.128/25',
  pattern: '{ip-dashed}.cust.lindholm.example.',
  ttl: null,
  overwrite: 'generated',
  created: '2026-04-01T09:40:02.118Z',
  touched: '2026-04-01T09:40:02.118Z',
}
const ptrAnswer = {
  results: [
    {
      ip: '203.0.113.80',
      ptrdname: `www.${name}.`,
      previous: null,
      status: 'created' as const,
      zone: reverseZone,
      forward_ok: true,
    },
    {
      ip: '203.0.113.81',
      ptrdname: null,
      previous: 'old.lindholm.example.',
      status: 'deleted' as const,
      zone: reverseZone,
      forward_ok: null,
    },
  ],
  count: 2,
  templates: [{ template, created: 128, updated: 0, unchanged: 0, kept: 0 }],
}

const acmeKey: TsigKey = {
  id: 4,
  name: 'acme-web1-x5w3ztk7.',
  label: 'acme-web1',
  algorithm: 'hmac-sha256',
  managed_by: 'team',
  may_update: true,
  may_transfer: false,
  resources: { zones: [{ zone: zone.name, names: ['_acme-challenge'], types: ['TXT'] }] },
  allowed_subnets: [],
  expires: null,
  created: zone.created,
  created_by: `user:${admin.id}`,
}
const secondaryKey: TsigKey = {
  ...acmeKey,
  id: 3,
  name: 'secondary.lindholm.example.',
  label: '',
  managed_by: 'provider',
  may_update: false,
  resources: null,
  created_by: 'operator',
}

export const dnsExamples = [
  example(listZonesRoute, { query: { owns_qname: `www.${name}` }, response: { results: [zone], count: 1 } }),
  example(getZoneRoute, {
    ...inZone,
    query: { include: 'servers' },
    response: {
      ...zone,
      servers: [
        {
          name: 'ns1.example.net.',
          region: 'ams',
          serial: zone.serial,
          state: 'serving',
          since: '2026-04-01T09:30:12.027Z',
          checked: '2026-04-01T09:30:12.027Z',
        },
        {
          name: 'ns2.example.net.',
          region: 'fra',
          serial: zone.serial,
          state: 'serving',
          since: '2026-04-01T09:30:12.031Z',
          checked: '2026-04-01T09:30:12.031Z',
        },
      ],
    },
  }),
  example(createZoneRoute, {
    body: { name, dnssec: false, recordsets: [{ name: 'www', type: 'A', records: ['203.0.113.80'] }] },
    response: { ...fresh, keys: [], other_zones: [], copied: [] },
    changes: changesBetween({}, { ...fresh, keys: [], other_zones: [], copied: [] }),
  }),
  example(deleteZoneRoute, {
    ...inZone,
    query: { confirm: name },
    changes: changesBetween(zone, {}),
  }),
  example(restoreZoneRoute, {
    params: { zone: String(zone.id) },
    response: { ...zone, status: 'updating' },
    changes: changesBetween({}, { ...zone, status: 'updating' }),
  }),
  example(importZoneRoute, {
    body: { name, zonefile, mode: 'create', dnssec: false },
    response: importAnswer,
    changes: changesBetween({}, { ...importAnswer, applied: false }),
  }),
  example(exportZoneRoute, inZone),
  example(listRecordSetsRoute, { ...inZone, query: { type: ['A'] }, response: { results: [www], count: 1 } }),
  example(getRecordSetRoute, { ...ofWww, response: www }),
  example(createRecordSetsRoute, {
    ...inZone,
    body: { name: 'www', type: 'A', records: ['203.0.113.80', '203.0.113.81'], comment: 'Load balancers' },
    response: newWww,
    changes: changesBetween({}, newWww),
  }),
  example(updateRecordSetRoute, {
    ...ofWww,
    body: { ttl: 3600, records: ['203.0.113.80', '203.0.113.81'] },
    response: www,
    changes: changesBetween(earlierWww, www),
  }),
  example(changeRecordSetsRoute, {
    ...inZone,
    body: { recordsets: [{ name: 'www', type: 'A', records: ['203.0.113.80', '203.0.113.81'] }] },
    response: changed,
    changes: changesBetween(unchanged, changed),
  }),
  example(deleteRecordSetRoute, { ...ofWww, changes: changesBetween(www, {}) }),
  example(getZoneSettingsRoute, { ...inZone, response: settings }),
  example(updateZoneSettingsRoute, {
    ...inZone,
    body: { allow_transfer: ['192.0.2.53'], tsig_key_ids: [3], protect_delete: true },
    response: settings,
    changes: changesBetween(defaultSettings, settings),
  }),
  example(listTsigKeysRoute, {
    response: {
      results: [acmeKey, secondaryKey],
      count: 2,
    },
  }),
  example(getTsigKeyRoute, { params: { tsig_key_id: acmeKey.id }, response: acmeKey }),
  example(createTsigKeyRoute, {
    body: {
      label: acmeKey.label,
      may_update: true,
      resources: { zones: [{ zone: zone.name, names: ['_acme-challenge'], types: ['TXT'] }] },
    },
    response: { ...acmeKey, secret: 'RVhBTVBMRSBzZWNyZXQgb2YgMzIgb2N0ZXRzLCBub25lIQ==' },
  }),
  example(deleteTsigKeyRoute, {
    params: { tsig_key_id: acmeKey.id },
    changes: changesBetween(acmeKey, {}),
  }),
  example(listZoneVersionsRoute, {
    ...inZone,
    response: {
      results: [
        {
          version: 18,
          at: www.touched,
          actor: `user:${admin.id}`,
          what: 'recordset.update',
          added_count: 0,
          changed_count: 1,
          removed_count: 0,
        },
      ],
      count: 1,
    },
  }),
  example(getZoneVersionRoute, {
    params: { zone: name, version: 18 },
    response: {
      version: 18,
      at: www.touched,
      actor: `user:${admin.id}`,
      what: 'recordset.update',
      ...onlyChanged,
    },
  }),
  example(rollBackZoneRoute, {
    ...oneVersion,
    response: rolledBack,
    changes: changesBetween({ ...unchanged, version: 18, unchanged_count: 0 }, rolledBack),
  }),
  example(listPtrRecordsRoute, {
    query: { cidr: '203.0.113.0/24' },
    response: {
      results: [
        { ip: '203.0.113.80', ptrdname: `www.${name}.`, ttl: 3600, zone: reverseZone, source: 'user' },
        {
          ip: '203.0.113.129',
          ptrdname: '203-0-113-129.cust.lindholm.example.',
          ttl: 3600,
          zone: reverseZone,
          source: 'generated',
        },
      ],
      count: 2,
    },
  }),
  example(updatePtrRecordsRoute, {
    body: {
      records: [
        { ip: '203.0.113.80', ptrdname: `www.${name}.` },
        { ip: '203.0.113.81', ptrdname: null },
      ],
      templates: [{ cidr: '203.0.113.128/25', pattern: '{ip-dashed}.cust.lindholm.example.' }],
      check_forward: true,
    },
    response: ptrAnswer,
    changes: changesBetween({}, ptrAnswer),
  }),
  example(listPtrTemplatesRoute, { response: { results: [template], count: 1 } }),
  example(deletePtrTemplateRoute, {
    params: { template_id: template.id },
    changes: changesBetween(template, {}),
  }),
]
