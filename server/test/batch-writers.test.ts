// Writers of many rows in one statement: a row that PostgreSQL refuses neither loses nor blocks its neighbours. Files
// are enumerated from the source.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { saveAsNames } from '../src/flow/as-name.store.ts'
import { createExporterState } from '../src/collector/exporter-state.ts'
import { listExporterPorts, saveExporters, saveUnknownInterfaces } from '../src/collector/exporter.store.ts'
import { saveHits, saveInstalls, saveRuleStates } from '../src/shield/reconcile.store.ts'
import { ingestDeliveries } from '../src/events/ingest/ingest.ts'
import { deliver } from '../src/events/testing.ts'
import { Refusals } from '../src/audit/refusals.ts'
import { saveCheck, saveFailedCheck, saveObserved } from '../src/byoip/regions/reconcile.store.ts'
import { readSubjectsAfter, saveEvaluations } from '../src/byoip/validation/validation.store.ts'
import { saveSummaries } from '../src/byoip/visibility/visibility.store.ts'
import { writeAudit } from '../src/db/audit.ts'
import type { Db, Trx } from '../src/db/postgres.ts'
import { storedJson, storedText } from '../src/db/stored-json.ts'
import { isRefusedValue, writeRows } from '../src/db/write-rows.ts'
import { saveAsnProofs } from '../src/inventory/holding/asn-proof.store.ts'
import { readDevice, saveObservation } from '../src/inventory/collect/observe.ts'
import { mapSampled } from '../src/inventory/collect/next-sample.ts'
import { saveSamples } from '../src/inventory/collect/sampled-counters.ts'
import { createOwnershipCache } from '../src/inventory/holding/ownership.ts'
import { insertNotifications } from '../src/notification/notification.store.ts'
import { writeMessages } from '../src/outbox/outbox.ts'
import { saveDifferences } from '../src/restore/restore.store.ts'
import { createRotate } from '../src/session/rotate.ts'
import { createTestApi, type TestApi } from './api.ts'
import { openSession } from './support/credentials.ts'
import { createFixtures, type Fixtures } from './support/fixtures.ts'

/** Texts that PostgreSQL refuses: the first two in every column, the third in an index. */
const texts = ['a\0b', 'a\ud800b', randomBytes(20_000).toString('hex')]
/** Numbers above the range of every integer column. */
const numbers = [2 ** 64, -(2 ** 64), 1e300]

/** Files whose rows come from outside, with the test below that feeds them. */
const fed: Readonly<Record<string, string>> = {
  'events/ingest/delivery.store.ts': 'deliveries of detectors',
  'events/event/event.store.ts': 'deliveries of detectors',
  'events/relate/relationship.store.ts': 'deliveries of detectors',
  'events/relate/team-event.store.ts': 'deliveries of detectors',
  'events/relate/facet.store.ts': 'deliveries of detectors',
  'events/relate/incident.store.ts': 'deliveries of detectors',
  'events/relate/event-rollup.store.ts': 'deliveries of detectors',
  'flow/as-name.store.ts': 'names of AS numbers',
  'collector/exporter.store.ts': 'templates, sampling rates and exporters',
  'shield/reconcile.store.ts': 'rules on scrubbers and their hits',
  'byoip/regions/reconcile.store.ts': 'regions and routers',
  'byoip/validation/validation.store.ts': 'results of checks',
  'byoip/visibility/visibility.store.ts': 'summaries of visibility',
  'inventory/holding/asn-proof.store.ts': 'proofs of ASNs',
  'inventory/bgp/session.store.ts': 'polls of devices',
  'inventory/collect/collect.store.ts': 'polls of devices',
  'inventory/collect/counter.store.ts': 'polls of devices',
  'inventory/collect/gauge.store.ts': 'polls of devices',
  'inventory/collect/sampled-counters.store.ts': 'counters of sFlow',
  'notification/notification.store.ts': 'notifications',
  'outbox/outbox.store.ts': 'messages',
  'restore/restore.store.ts': 'differences of a restore',
  'session/session.store.ts': 'refreshes of sessions',
}

const ofRequest = 'rows of one request, which was validated and is all or nothing'
const ofOwn = 'ids, times and codes that Pharos has made itself'
const ofDatabase = 'values that the database has already stored'

/** Other files with such statements, with the reason why single rows cannot be refused. */
const safe: Readonly<Record<string, string>> = {
  'collector/detector/shared-attack.store.ts': ofOwn,
  'events/relate/event-mark.store.ts': ofOwn,
  'events/list/incident-list.store.ts': ofOwn,
  'flow/attack-octets.store.ts': ofOwn,
  'collector/counter-check.store.ts': 'sums of flows by ids that the database has',
  'events/list/event-sql.store.ts': 'only reads',
  'events/list/rollup-series.store.ts': 'only reads',
  'shield/shield-list.store.ts': ofRequest,
  'alert/watch.store.ts': ofOwn,
  'audit/seal.store.ts': ofOwn,
  'byoip/announcement/announcement.store.ts': ofRequest,
  'byoip/announcement/create-announcements.store.ts': ofRequest,
  'byoip/status/status-message.store.ts': ofDatabase,
  'byoip/status/status.store.ts': ofOwn,
  'byoip/blackhole/blackhole.store.ts': ofRequest,
  'byoip/regions/blackhole.store.ts': 'codes, and attributes as storedJson like those of announcements',
  'byoip/regions/former-speakers.store.ts': 'errors as storedJson, and prefixes that were parsed',
  'byoip/regions/region-lock.store.ts': ofOwn,
  'byoip/visibility/heard-by.store.ts': 'only reads',
  'db/lost-keys.store.ts': ofOwn,
  'dns/powerdns/powerdns.store.ts': 'only reads',
  'dns/publish/observe.store.ts': 'serial numbers of 32 bits and codes',
  'dns/publish/publish.store.ts': 'one zone, in the wire format: all or nothing',
  'dns/sign/served-rows.ts': 'only reads',
  'dns/reverse/reverse.store.ts': ofRequest,
  'dns/zone/related-zone.store.ts': ofRequest,
  'dns/zone/zone-change.store.ts': ofRequest,
  'inventory/bill/bill.store.ts': ofOwn,
  'identity/provider.store.ts': 'only reads',
  'identity/sign-in-policy.store.ts': 'MACs of one request',
  'inventory/device/device.store.ts': 'only reads',
  'inventory/gauge/gauge.store.ts': 'only reads',
  'inventory/optics/light-margins.store.ts': 'only reads',
  'inventory/optics/watch-optics.store.ts': ofOwn,
  'inventory/usage/port-loads.store.ts': 'only reads',
  'inventory/assignment/link-ports.store.ts': ofDatabase,
  'limit/resource-limit.store.ts': ofRequest,
  'platform/engine/owners.store.ts': 'ids of rows, and the name of a file that was read',
  'platform/kinds/announcement.store.ts': ofRequest,
  'platform/kinds/port.ts': 'only reads',
  'status/status.store.ts': 'only reads',
  'team/invitation.store.ts': 'roles of one row',
  'team/member.store.ts': 'scopes of the tokens of one member',
  'webhook/send.store.ts': ofOwn,
}

const source = join(import.meta.dirname, '../src')

it('every writer of batches is fed below, or has a reason', async () => {
  const found: string[] = []
  for await (const path of glob('**/*.ts', { cwd: source })) {
    if (/\.test\.ts$|\/testing\.ts$|^commands\/demo\/|^db\/unnest\.ts$/.test(path)) continue
    if (/(recordset|unnest|unnestRows)\(/.test(await readFile(join(source, path), 'utf8'))) found.push(path)
  }
  assert.deepEqual(found.toSorted(), [...Object.keys(fed), ...Object.keys(safe)].toSorted())
})

let api: TestApi
let fixtures: Fixtures
const db = (): Db => api.database.postgres.owner
const transaction = <T>(run: (trx: Trx) => Promise<T>): Promise<T> => db().transaction().execute(run)

before(async () => {
  api = await createTestApi()
  fixtures = await createFixtures(api)
})
after(() => api[Symbol.asyncDispose]())

describe('a refused row loses and blocks none of its neighbours:', () => {
  it('in general', async () => {
    await sql`create temporary table written (text text primary key, number integer)`.execute(db())
    await sql`drop table written`.execute(db())
    await transaction(async (trx) => {
      await sql`create temporary table written (text text primary key, number integer) on commit drop`.execute(
        trx,
      )
      const rows = [...texts, 'first', ...texts, 'last'].map((text) => ({ text, number: 1 }))
      const wide = numbers.map((number, place) => ({ text: `${place}`, number }))
      const write = (some: readonly object[]) =>
        sql`insert into written select * from jsonb_to_recordset(${JSON.stringify(some)}::jsonb) as n (text text, number integer)`.execute(
          trx,
        )
      const refused = await writeRows(trx, [...wide, ...rows], write)
      assert.equal(refused.length, 9)
      const { rows: kept } = await sql<{ text: string }>`select text from written order by text`.execute(trx)
      assert.deepEqual(
        kept.map(({ text }) => text),
        ['first', 'last'],
      )
    })
    await assert.rejects(
      writeRows(db(), [1, 2], async () => {
        throw Object.assign(new Error('the connection is lost'), { code: '08006' })
      }),
      (error) => !isRefusedValue(error),
    )
  })

  it('JSON that is stored has no character that is refused, and is else the same', async () => {
    const value = { 'k\0': ['\\u0000', '\\\0', '\\\\\ud800', '\udfff', '😀', '\n', texts[0]] }
    const { rows } = await sql<{ value: unknown }>`select ${storedJson(value)}::jsonb as value`.execute(db())
    assert.deepEqual(rows[0]!.value, {
      'k\ufffd': ['\\u0000', '\\\ufffd', '\\\\\ufffd', '\ufffd', '😀', '\n', 'a\ufffdb'],
    })
    assert.equal(storedText('a\0 \ud800 😀'), 'a\ufffd \ufffd 😀')
  })

  it('refused calls', async () => {
    const refusals = new Refusals({
      write: (entries) => transaction((trx) => writeAudit(trx, ...entries)),
      log: { warn: (() => {}) as never },
    })
    const refusal = { teamId: null, actor: 'user:7', target: 't', requestId: 'r', code: 'forbidden' }
    for (const action of ['batch.first', ...texts.slice(0, 2), 'batch.last'])
      refusals.note({ ...refusal, action } as never)
    await refusals.stop()
    const { rows } = await sql<{ action: string }>`
      select action from audit_entries where action like 'batch.%' order by action`.execute(db())
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['batch.first', 'batch.last'],
    )
  })

  it('deliveries of detectors', async () => {
    const attack = (uuid: string, rest: object = {}) => ({
      action: 'ban',
      ip: '203.0.113.9',
      attack_details: {
        attack_uuid: uuid,
        attack_direction: 'incoming',
        total_incoming_traffic: 1e9,
        ...rest,
      },
    })
    const bodies = [
      attack('first-of-batch'),
      ...texts.map((text) => attack(`bad-${text}`, { attack_protocol: text })),
      ...numbers.map((number, place) => attack(`wide-${place}`, { total_incoming_pps: number })),
      attack('last-of-batch'),
    ]
    for (const [place, body] of bodies.entries())
      await deliver(db(), 'detector', [body], new Date(Date.now() - 60_000 + place))
    await ingestDeliveries(api.database.postgres, createOwnershipCache())
    const { rows } = await sql<{ id: string }>`
      select source_event_id as id from events where source_event_id like '%-of-batch' order by 1`.execute(
      db(),
    )
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['first-of-batch', 'last-of-batch'],
    )
    const waiting = await sql`select from deliveries where state = 'new'`.execute(db())
    assert.equal(waiting.rows.length, 0)
  })

  it('templates, sampling rates and exporters', async () => {
    const exporters = ['192.0.2.1', ...texts, '192.0.2.9']
    const refused = await writeRows(db(), exporters, (some) => saveExporters(db(), some))
    // An unpaired surrogate outside of JSON becomes U+FFFD on the wire.
    assert.equal(refused.length, 2)
    const learned = createExporterState()
    const template = { version: 10, domain: 1, id: 256, scopes: 0, fields: [[0, 8, 4]] } as const
    const sampling = { version: 10, domain: 1, sampler: 1, inIf: 0, rate: 100, announced: 1 } as const
    for (const exporter of exporters) {
      learned.addTemplate({ ...template, exporter })
      learned.addSampling({ ...sampling, exporter })
    }
    for (const domain of numbers) {
      learned.addTemplate({ ...template, exporter: '192.0.2.1', domain })
      learned.addSampling({ ...sampling, exporter: '192.0.2.1', domain })
      learned.removeTemplate({ version: 10, id: 300, exporter: '192.0.2.1', domain })
    }
    await assert.rejects(learned.save(db()), /were not stored/)
    await learned.save(db())
    for (const table of ['flow_templates', 'flow_samplings']) {
      const { rows } = await sql<{ exporter: string }>`
        select exporter from ${sql.table(table)} where exporter like '192.0.2._' order by 1`.execute(db())
      assert.deepEqual(
        rows.map(({ exporter }) => exporter),
        ['192.0.2.1', '192.0.2.9'],
        table,
      )
    }
    const exporterId = (await listExporterPorts(db())).get('192.0.2.9')!.id
    const unknown = [1, ...numbers, 2].map((ifIndex) => ({ exporterId, ifIndex }))
    await writeRows(db(), unknown, (some) => saveUnknownInterfaces(db(), some))
    const { rows } = await sql`select from flow_unknown_interfaces`.execute(db())
    assert.equal(rows.length, 2)
  })

  it('names of AS numbers', async () => {
    const names = new Map<number, string>([
      [64_496, 'first'],
      [2 ** 64, 'wide'],
      [64_497, texts[0]!],
      [64_498, 'last'],
    ])
    const refused = await saveAsNames(db(), names)
    assert.equal(refused.length, 1)
    const { rows } = await sql<{ name: string }>`select name from as_names order by asn`.execute(db())
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['first', 'a\ufffdb', 'last'],
    )
  })

  it('counters of sFlow', async () => {
    const { deviceId } = fixtures.red
    await sql`update devices set driver = 'sflow' where id = ${deviceId}`.execute(db())
    await sql`update flow_exporters set device_id = ${deviceId} where address = '192.0.2.1'`.execute(db())
    const sample = (ifIndex: number, rest: object = {}) => ({
      at: Date.now(),
      uptimeMs: 1_000_000,
      name: `eth${ifIndex}`,
      ifIndex,
      type: 6,
      speedBps: 1e9,
      isAdminUp: true,
      isOperUp: true,
      counters: mapSampled(() => 0n),
      ...rest,
    })
    const samples = [
      sample(1),
      ...texts.map((name, place) => sample(10 + place, { name })),
      ...numbers.map((type, place) => sample(20 + place, { type })),
      sample(2 ** 64),
      sample(2),
    ]
    await saveSamples(db(), '192.0.2.1', samples as never)
    const { rows } = await sql<{ name: string }>`
      select name from sampled_counters where device_id = ${deviceId} and if_index < 10 order by if_index`.execute(
      db(),
    )
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['eth1', 'eth2'],
    )
  })

  it('polls of devices', async () => {
    const { deviceId } = fixtures.blue
    await sql`insert into device_states (device_id) values (${deviceId}) on conflict do nothing`.execute(db())
    const one = (key: string, rest: object = {}) => ({
      key,
      index: 7,
      name: key,
      alias: '',
      type: 6,
      mtu: null,
      mac: null,
      admin: 'up',
      oper: 'up',
      speedBps: 1e9,
      lagKey: null,
      addresses: [],
      ...rest,
    })
    const interfaces = [
      one('first'),
      ...texts.map((text) => one(text)),
      ...numbers.map((mtu, place) => one(`wide-${place}`, { mtu })),
      one('last'),
    ]
    const row = (key: string, octetsIn: bigint) => ({
      key,
      at: Date.now(),
      uptimeCs: 1,
      discontinuity: null,
      admin: 'up',
      oper: 'down',
      bits: 64,
      octetsIn,
      octetsOut: octetsIn,
      packetsIn: null,
      packetsOut: null,
      errorsIn: 2n ** 80n,
      errorsOut: null,
      discardsIn: null,
      discardsOut: null,
    })
    const modules = ['first', texts[0]!, 'last'].map((interfaceKey) => ({
      interfaceKey,
      vendor: texts[1]!,
      part: texts[2]!,
      serial: interfaceKey,
      type: texts[0]!,
      wavelengthNm: interfaceKey === 'first' || interfaceKey === 'last' ? 1 : 2 ** 64,
      reachM: null,
      connector: null,
      lanes: 1,
      hasDdm: true,
    }))
    const sessions = ['192.0.2.1', 'not an address', ...texts, '192.0.2.2'].map((peer, at) => ({
      instance: texts[at] ?? '',
      peer,
      peerAsn: peer.startsWith('192') ? 1 : 2 ** 64,
      state: 'idle',
      establishedSeconds: null,
      prefixes: [],
      error: null,
    }))
    const device = { id: deviceId, isSurveyDue: true, isNew: false, areGaugesDue: true } as Parameters<
      typeof readDevice
    >[1]
    const parts = new Map()
    const observation = {
      survey: { identity: { name: texts[0], uptimeMs: 1 }, interfaces },
      counters: { rows: ['first', ...texts, 'last'].map((key) => row(key, 1n)), isPartial: false },
      modules,
      health: ['first', ...texts, 'last'].map((part) => ({ metric: 'cpu', part, value: 1e300 })),
      optics: [],
      sessions: sessions.map((one) => (one.peer.startsWith('192') ? { ...one, instance: '' } : one)),
      parts,
    }
    await transaction((trx) => saveObservation(trx, device, observation as never))
    const { rows } = await sql<{ key: string; oper: string }>`
      select key, oper from interfaces where device_id = ${deviceId} and key in ('first', 'last') order by key`.execute(
      db(),
    )
    assert.deepEqual(rows, [
      { key: 'first', oper: 'down' },
      { key: 'last', oper: 'down' },
    ])
    const stored = await sql<{ serial: string }>`
      select t.serial from transceivers t join interfaces i on i.id = t.interface_id
      where i.device_id = ${deviceId} and t.serial in ('first', 'last') order by 1`.execute(db())
    assert.deepEqual(
      stored.rows.map(({ serial }) => serial),
      ['first', 'last'],
    )
    assert.equal(parts.get('interfaces')?.text, 'its values cannot be stored')
    assert.equal(parts.get('bgp')?.text, 'its values cannot be stored')
    const peers = await sql<{
      peer: string
    }>`select host(peer) as peer from bgp_sessions order by peer`.execute(db())
    assert.deepEqual(
      peers.rows.map(({ peer }) => peer),
      ['192.0.2.1', '192.0.2.2'],
    )
  })

  it('refreshes of sessions', async () => {
    const { owner } = api.database.postgres
    const rotate = createRotate(owner, { idleSeconds: 3600, absoluteSeconds: 3600 })
    const presented = async (address: string, userAgent: string) => {
      const { sessionId } = await openSession(api, fixtures.people.admin.userId, fixtures.red.teamId)
      return { sessionId, counter: 1, address, userAgent }
    }
    const all = [
      await presented('192.0.2.1', 'first'),
      await presented('not an address', 'bad'),
      await presented('192.0.2.1', texts[0]!),
      await presented('192.0.2.2', 'last'),
    ]
    const results = await Promise.allSettled(all.map((one) => rotate(one)))
    assert.deepEqual(
      results.map((result) => result.status === 'fulfilled' && result.value !== undefined),
      [true, false, false, true],
    )
  })

  it('results of checks', async () => {
    const subjects = (await readSubjectsAfter(db(), 0, 100)).slice(0, 4)
    assert.equal(subjects.length, 4)
    const evaluations = subjects.map((subject, place) => ({
      subject,
      checks: [
        {
          name: 'irr' as const,
          state: 'missing' as const,
          reason: null,
          attrs: { text: texts[place % 2] },
          note: `note ${place}`,
          evidence: { text: texts[0] },
          fix: texts[1]!,
          checked: place === 2 ? ('never' as never) : new Date(),
          nextCheck: null,
        },
      ],
      proofs: [],
      clearance: subject.clearance,
      claims: false,
      answers: null,
    }))
    const saved = new Set<number>()
    const refused = await transaction((trx) =>
      writeRows(trx, evaluations, async (some) => {
        for (const id of await saveEvaluations(trx, some as never)) saved.add(id)
      }),
    )
    const bad = subjects[2]!.id
    assert.deepEqual(
      refused.map(({ row }) => row.subject.id),
      [bad],
    )
    const ids = subjects.map(({ id }) => id).filter((id) => id !== bad)
    assert.deepEqual([...saved].toSorted(), ids.toSorted())
    const { rows } = await sql`
      select from announcement_validations where announcement_id = any(${ids}::integer[]) and note like 'note %'`.execute(
      db(),
    )
    assert.equal(rows.length, 3)
  })

  it('summaries of visibility', async () => {
    const subjects = (await readSubjectsAfter(db(), 0, 100)).slice(0, 5)
    const saved = subjects.map(({ id, teamId }, place) => ({
      id,
      teamId,
      rpki: 'valid',
      messages: [],
      notified: { zombie: false, routes: [], notVisible: false, otherPath: false },
      summary: {
        state: 'current',
        reason: null,
        collectorsTotal: [1, numbers[0], numbers[1], numbers[2], 1][place],
        collectorsSeeing: 1,
        ours: 1,
        origins: [{ asn: texts[0], count: 1 }],
        moreSpecifics: [],
        change: null,
        secondsTo80pct: null,
        stuck: 0,
        zombie: null,
      },
    }))
    const refused = await saveSummaries(db(), saved as never)
    assert.equal(refused.length, 3)
    const { rows } = await sql<{ id: number }>`
      select announcement_id as id from announcement_visibility order by 1`.execute(db())
    assert.deepEqual(
      rows.map(({ id }) => id),
      [subjects[0]!.id, subjects[4]!.id].toSorted((a, b) => a - b),
    )
  })

  it('proofs of ASNs', async () => {
    const methods = ['rdap_email', 'peeringdb', 'aut_num', 'dns_txt'] as const
    const proofs = methods.map((method, place) => ({
      method,
      state: 'missing' as const,
      reason: null,
      attrs: { text: texts[0] },
      note: texts[1]!,
      evidence: { text: texts[place % 2] },
      missingSince: null,
      checked: place === 1 ? ('never' as never) : new Date(),
    }))
    const { teamId, asn } = fixtures.red
    await transaction((trx) => saveAsnProofs(trx, teamId, asn as never, proofs as never))
    const { rows } = await sql<{ method: string }>`
      select method from asn_proofs where team_id = ${teamId} and asn = ${asn} and evidence ->> 'text' is not null order by 1`.execute(
      db(),
    )
    assert.deepEqual(
      rows.map(({ method }) => method),
      ['aut_num', 'dns_txt', 'rdap_email'],
    )
  })

  it('notifications', async () => {
    const { userId } = fixtures.people.admin
    const { teamId } = fixtures.red
    const row = (key: string, attrs: object = {}) => ({
      userId,
      teamId,
      kind: 'letter_rejected',
      key,
      at: new Date(),
      attrs,
      isMailed: false,
    })
    const rows = [row('first'), ...texts.map((text) => row(text, { text })), row('last', { text: texts[0] })]
    const { refused } = await transaction((trx) => insertNotifications(trx, rows as never))
    assert.equal(refused.length, 1)
    const { rows: kept } = await sql<{ key: string }>`
      select key from notifications where key in ('first', 'last') order by 1`.execute(db())
    assert.deepEqual(
      kept.map(({ key }) => key),
      ['first', 'last'],
    )
  })

  it('messages', async () => {
    const { teamId } = fixtures.red
    const message = (text: string) => ({ teamId, type: 'announcement.status_changed', data: { text } })
    await transaction((trx) => writeMessages(trx, ['first', ...texts, 'last'].map(message) as never))
    const { rows } = await sql<{ text: string }>`
      select data::jsonb ->> 'text' as text from outbox where data::jsonb ? 'text' order by id`.execute(db())
    assert.deepEqual(
      rows.map(({ text }) => text),
      ['first', 'a\ufffdb', 'a\ufffdb', texts[2], 'last'],
    )
  })

  it('regions and routers', async () => {
    const regionId = fixtures.regions['ams']!
    const { rows: lease } = await sql<{
      epoch: number
    }>`select epoch from regions where id = ${regionId}`.execute(db())
    const fence = {
      regionId,
      epoch: lease[0]!.epoch,
      fence: (_db: unknown, work: (trx: never) => Promise<unknown>) =>
        db()
          .transaction()
          .execute((trx) => work(trx as never)),
    }
    const router = (name: string, routes: number) => ({
      name,
      error: null,
      drained: false,
      reach: { 4: true, 6: true },
      families: new Set(),
      routes,
      neighbors: [{ text: texts[0] }],
      applied: null,
    })
    const failed = texts.map((error, place) => ({ name: `bad-${place}`, error }))
    const wide = numbers.map((routes, place) => router(`wide-${place}`, routes))
    const routers = [router('first', 1), ...failed, ...wide, router('last', 2)]
    await saveCheck(db(), fence as never, { at: new Date(), quorum: 1, routers, missing: 0 } as never)
    const { rows } = await sql<{ name: string; routes: number | null }>`
      select name, routes from region_routers where region_id = ${regionId} and name in ('first', 'last', 'bad-0') order by name`.execute(
      db(),
    )
    assert.deepEqual(rows, [
      { name: 'bad-0', routes: null },
      { name: 'first', routes: 1 },
      { name: 'last', routes: 2 },
    ])
    await saveFailedCheck(db(), fence as never, texts[0]!, failed)
    const { rows: region } = await sql<{ error: string }>`
      select last_error as error from regions where id = ${regionId}`.execute(db())
    assert.equal(region[0]!.error, 'a\ufffdb')
    const { rows: states } = await sql<{ id: number }>`
      select announcement_id as id from announcement_regions where region_id = ${regionId} order by 1`.execute(
      db(),
    )
    for (const desired of [true, false]) {
      const seen = states.map(({ id: announcementId }) => ({
        announcementId,
        desired,
        state: 'error',
        reason: 'refused',
        attrs: { error: texts[0] },
        announcedOrigin: null,
      }))
      await saveObserved(db(), fence as never, seen as never)
    }
    const { rows: observed } = await sql<{ error: string }>`
      select attrs ->> 'error' as error from announcement_regions where region_id = ${regionId} and state = 'error'`.execute(
      db(),
    )
    assert.ok(observed.length > 0)
    assert.ok(observed.every(({ error }) => error === 'a\ufffdb'))
  })

  it('rules on scrubbers and their hits', async () => {
    const { teamId } = fixtures.red
    const { rows: lists } = await sql<{ id: number }>`
      insert into shield_lists (team_id, prefix, version, status)
      select ${teamId}, n::cidr, 1, 'pending' from unnest(array['203.0.113.0/26', '203.0.113.64/26', '203.0.113.128/26']) n
      returning id`.execute(db())
    await db()
      .insertInto('scrubbers')
      .values({ name: 'edge', driver: '{"kind":"sandbox"}' } as never)
      .execute()
    const installs = lists.map(({ id }, place) => ({
      listId: id,
      version: place === 1 ? 2 ** 64 : 1,
      state: 'rejected',
      reason: 'scrubber_refused',
      attrs: { error: texts[place % 2] },
      held: [],
      rules: {},
    }))
    await transaction((trx) => saveInstalls(trx, 'edge', installs as never, []))
    const { rows: installed } = await sql<{ id: number }>`
      select list_id as id from shield_installs order by 1`.execute(db())
    assert.deepEqual(
      installed.map(({ id }) => id),
      [lists[0]!.id, lists[2]!.id],
    )
    const { rows: rules } = await sql<{ id: number }>`
      insert into shield_rules (list_id, team_id, sequence, enabled, action, match)
      select ${lists[0]!.id}, ${teamId}, n, true, 'deny', '{}' from generate_series(1, 4) n returning id::float8 as id`.execute(
      db(),
    )
    const hits = new Map(
      rules.map(({ id }, place) => [id, { packets: [1, numbers[0]!, numbers[2]!, 4][place]!, bytes: 1 }]),
    )
    const counted = await saveHits(db(), 'edge', hits)
    assert.deepEqual(
      counted.map(({ packets }) => packets),
      [1, 4],
    )
    await transaction((trx) =>
      saveRuleStates(
        trx,
        rules.map(({ id }, place) => ({
          id,
          status: place === 1 ? texts[2] : 'rejected',
          reason: null,
          attrs: { text: texts[0] },
        })) as never,
      ),
    )
    const { rows: rejected } = await sql`select from shield_rules where status = 'rejected'`.execute(db())
    assert.equal(rejected.length, 3)
  })

  it('differences of a restore', async () => {
    await saveDifferences(db(), {
      area: 'routes',
      source: 'ams',
      differences: texts.slice(0, 2).map((subject, place) => ({
        subject: `${place} ${subject}`,
        kind: 'missing',
        teamId: null,
        adoptable: false,
        database: { text: subject },
        network: null,
      })),
    } as never)
  })
})
