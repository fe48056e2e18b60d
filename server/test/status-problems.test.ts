// Every problem of `pharos status`: each is caused alone in a database without problems, and then reported alone, with its subject, by an
// exit code of 1. The compiler completes the table; docs/operating/status.md has to explain each code.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { sql, type RawBuilder } from 'kysely'
import { seedRegions, seedTeam } from '../src/byoip/announcement/testing.ts'
import { status } from '../src/commands/status.ts'
import { runCommand } from '../src/commands/testing.ts'
import { lockClass } from '../src/db/lock-class.ts'
import { SessionLock } from '../src/db/session-lock.ts'
import { createTestDatabase, emptyTables, type TestDatabase } from '../src/db/testing.ts'
import { statusProblemCodes, type StatusProblemCode } from '@pharos/contract/operator/status'
import type { Status } from '../src/status/status.ts'
import { watchInstallation } from '../src/status/figures.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { version } from '../src/runtime/version.ts'
import { parse } from 'yaml'
import { statusConfig } from './support/status-config.ts'

let database: TestDatabase
let team: number
/** The leaders of the region and of the work that one process does for all. */
const leaders: Record<string, SessionLock> = {}
const owner = () => database.postgres.owner

before(async () => {
  database = await createTestDatabase()
  const { ams } = await seedRegions(database.postgres, ['ams'])
  team = await seedTeam(database.postgres, 'ours')
  const keys = {
    region: [lockClass.region, ams!],
    audit: [lockClass.leadership, 'audit'],
    validator: [lockClass.leadership, 'validator'],
  } as const
  for (const [name, key] of Object.entries(keys)) leaders[name] = new SessionLock(database.postgres, key)
})
after(async () => {
  await Promise.all(Object.values(leaders).map((lock) => lock.release()))
  await database[Symbol.asyncDispose]()
})

const loops = (seconds: number) => [
  {
    name: 'seal',
    interval_seconds: 10,
    last_success: new Date(Date.now() - seconds * 1000).toISOString(),
  },
]
const registries = [{ kind: 'rpki', name: 'file', ok: true, answered: new Date().toISOString() }]

beforeEach(async () => {
  await emptyTables(owner(), [
    'restores',
    'region_routers',
    'former_speakers',
    'processes',
    'visibility_sources',
    'announcements',
    'approvals',
    'dns_zones',
    'mails',
    'webhooks',
    'inventory_imports',
    'ports',
    'devices',
  ])
  await change(sql`update regions set last_check = now(), last_check_result = true, last_error = null, routes_missing = 0,
    speakers = '[{"name":"r1","kind":"sandbox"}]'`)
  await change(sql`insert into region_routers (region_id, name, last_check, last_check_result, neighbors)
    select id, 'r1', now(), true, '[{"address":"192.0.2.254","asn":64501,"state":"established","families":[4,6]}]' from regions`)
  await change(sql`insert into processes (id, host, pid, version, roles, started, seen, loops, registries, flow_store)
    values ('00000000-0000-4000-8000-000000000001', 'app1', 7, ${version}, '{api,reconciler,collector,nameserver}', now(),
      now(), ${JSON.stringify(loops(1))}, ${JSON.stringify(registries)}, null)`)
  await change(sql`update installation set schema_floor = ${version}`)
  for (const lock of Object.values(leaders)) assert.ok(await lock.hold())
})

const change = (statement: RawBuilder<unknown>) => statement.execute(owner())
const withRegistry = (more: object) =>
  change(sql`update processes set registries = ${JSON.stringify([{ ...registries[0], ...more }])}`)
/** Announcements whose team was last notified that almost no collector has them, or none through the provider. */
async function unseen(notVisible: number, otherPath: number): Promise<void> {
  const used = sql`insert into visibility_sources (name, label, position, is_used, as_of, checked)
    values ('ris', 'RIS', 0, true, now(), now())`
  await change(used)
  for (let at = 0; at < notVisible + otherPath; at++)
    await change(sql`with one as (
        insert into announcements (team_id, prefix, origin_asn, claimed) values (${team}, ${`10.0.${at}.0/24`}, 64496, now())
        returning id, team_id)
      insert into announcement_visibility (announcement_id, team_id, state, collectors_total, collectors_seeing, rpki,
        not_visible, other_path)
      select id, team_id, 'current', 20, 3, 'valid', ${at < notVisible}, ${at >= notVisible} from one`)
}

type Case = {
  readonly make: () => Promise<unknown>
  /** `subject: message` of each problem. */
  readonly reported: readonly RegExp[]
}

const cases: Record<StatusProblemCode, Case> = {
  restore_open: {
    make: () => change(sql`insert into restores (reason, evidence) values ('by_hand', '{}')`),
    reported: [/^restore \d+: nothing is sent since .*, 0 differences are undecided: pharos restore show$/],
  },
  region_failed: {
    make: () => change(sql`update regions set last_check_result = false, last_error = 'no connection'`),
    reported: [/^ams: no connection$/],
  },
  region_stale: {
    make: () => change(sql`update regions set last_check = now() - interval '10 minutes'`),
    reported: [/^ams: last checked at \d/],
  },
  region_unled: {
    make: () => leaders['region']!.release(),
    reported: [/^ams: no reconciler works on it$/],
  },
  router_down: {
    make: () => change(sql`update region_routers set last_check_result = false, last_error = 'refused'`),
    reported: [/^ams\/r1: refused$/],
  },
  router_without_neighbor: {
    make: () =>
      change(
        sql`update region_routers set neighbors = '[{"address":"192.0.2.254","asn":64501,"state":"idle","families":[],
          "end":{"reason":"prefix_limit","detail":null}}]'`,
      ),
    reported: [/^ams\/r1: no established BGP session: .* 192\.0\.2\.254: The neighbor sent more prefixes/],
  },
  former_router: {
    make: () =>
      change(sql`insert into former_speakers (region_id, name, settings, identity, prefixes)
        select id, 'r0', '{}', 'sandbox ams/r0', '{192.0.2.0/24}' from regions`),
    reported: [
      /^ams\/r0: the former router sandbox ams\/r0 may have 1 route; if it is gone: pharos region gone \d+$/,
    ],
  },
  role_missing: {
    make: () => change(sql`update processes set roles = '{api,reconciler,collector}'`),
    reported: [/^nameserver: no running process has this role$/],
  },
  loop_late: {
    make: () => change(sql`update processes set loops = ${JSON.stringify(loops(120))}`),
    reported: [/^seal on app1:7: last succeeded at \d/],
  },
  clock_differs: {
    make: () => change(sql`update processes set clock_ms = -7400`),
    reported: [
      /^app1:7: its clock is 7 s behind that of the database: check the time synchronization of both$/,
    ],
  },
  devices_unread: {
    make: async () => {
      await change(sql`insert into devices (name, driver) values ('r1', 'sandbox'), ('r2', 'none')`)
      await change(sql`insert into device_states (device_id, seen, next_poll)
        select id, now(), now() - interval '4 minutes' from devices`)
    },
    reported: [
      /^devices: no collector has read 1 device for three intervals: the states of their ports are unknown$/,
    ],
  },
  sampling_implausible: {
    make: async () => {
      await change(sql`insert into devices (name, driver) values ('r3', 'none')`)
      await change(
        sql`insert into ports (circuit_id, name, device_id, interface_key) select 'C9', 'xe-9', id, 'xe-9' from devices`,
      )
      await change(sql`insert into flow_exporters (address) values ('192.0.2.9') on conflict do nothing`)
      await change(sql`insert into flow_counter_checks (exporter_id, port_id, hour, ratio, outside_hours, outside_since)
        select e.id, p.id, now() - interval '1 hour', 0.001, 3, '2026-01-01T00:00:00Z' from flow_exporters e, ports p`)
    },
    reported: [
      /^exporter 192\.0\.2\.9, port C9: flows have 0\.0010 times the octets of the interface for 3 h, since 2026-01-01T00:00Z: check/,
    ],
  },
  registry_down: {
    make: () => withRegistry({ ok: false, answered: null }),
    reported: [/^rpki file on app1:7: has not answered$/],
  },
  registry_doubtful: {
    make: () => withRegistry({ doubt: 'it lost more than 20 %' }),
    reported: [/^rpki file on app1:7: it lost more than 20 %$/],
  },
  flow_store_down: {
    make: () =>
      change(sql`update processes set flow_store =
        '{"state":"down","kind":"server","error":"no answer","since":"2026-01-01T00:00:00.000Z"}'`),
    reported: [/^flow store of app1:7: down since 2026-01-01T00:00:00\.000Z: no answer$/],
  },
  visibility_down: {
    make: () =>
      change(sql`insert into visibility_sources (name, label, position, problem, checked)
        values ('ris', 'RIS', 0, 'no answer', now())`),
    reported: [/^ris: no answer$/],
  },
  routes_missing: {
    make: () => change(sql`update regions set routes_missing = 2`),
    reported: [/^ams: 2 desired routes do not reach its neighbors: see include=region_states$/],
  },
  announcements_unseen: {
    make: () => unseen(1, 2),
    reported: [
      /^not_visible: 1 announced prefix is seen by hardly any route collector$/,
      /^other_path: 2 announced prefixes are seen by no route collector through us$/,
    ],
  },
  work_unled: {
    make: () => leaders['validator']!.release(),
    reported: [/^validator: no process leads$/],
  },
  approval_open: {
    make: () =>
      change(sql`insert into approvals (area, kind, region_id, findings, item_count, evidence)
        select 'routes', 'changes', id, '[{"reason": "too_many_withdrawals"}]'::jsonb, 1, 'a test' from regions
        union all select 'dns', 'catalog', null, '[{"reason": "many_removals"}]', 1, 'a test'
        union all select 'platform', 'import', null, '[{"reason": "many_deletions", "attrs": {"source": "NetBox"}}]', 1, 'a test'`),
    reported: [
      /^ams: changes need approval: pharos approvals show \d+$/,
      /^dns: changes need approval: pharos approvals show \d+$/,
      /^NetBox: changes need approval: pharos approvals show \d+$/,
    ],
  },
  zone_refused: {
    make: () =>
      change(sql`insert into dns_zones (name, name_key, status, reason, attrs)
        values ('a.example.', 'a', 'error', 'zone_refused', '{"servers":["ns2.example."]}')`),
    reported: [/^a\.example\.: ns2\.example\. keeps an old version that others have replaced/],
  },
  lag: {
    make: () =>
      change(sql`insert into mails (recipient, template, content_sealed, created)
        values ('a@b.example', 'test', '', now() - interval '6 minutes')`),
    reported: [/^mails: 1 waiting, the oldest for \d+ s$/],
  },
  operator_webhook_failing: {
    make: () =>
      change(sql`insert into webhooks (team_id, url, events, secret_sealed, created_by, failing_since)
        values (null, 'https://hooks.example', '{approval.opened}', '', 'operator', now())`),
    reported: [/^operator webhook: nothing was delivered since \d/],
  },
  import_failed: {
    make: () =>
      change(sql`insert into inventory_imports (source, attempted, error)
        values ('netbox', now(), 'the token was refused')`),
    reported: [/^netbox: the token was refused; it has never succeeded$/],
  },
  upgrade_unfinished: {
    make: () => change(sql`update installation set schema_floor = null`),
    reported: [/^database: run pharos migrate --finish when every process runs Pharos \d/],
  },
}

const read = async () => {
  let code: number | void = undefined
  const printed = await runCommand(
    database,
    { ...status, run: async (context) => (code = await status.run(context)) },
    '--json',
  )
  return { code: code as number | undefined, ...(JSON.parse(printed) as Status) }
}

const noProblems = Object.fromEntries(statusProblemCodes.map((code) => [code, 0]))
/** As in the metrics of a process. */
async function counted(): Promise<Record<string, number>> {
  const metrics = createMetrics()
  watchInstallation(metrics, owner(), statusConfig)
  const { values } = await metrics.problems.get()
  return Object.fromEntries(values.map(({ labels, value }) => [labels['code'], value]))
}

describe('the problems of pharos status', () => {
  it('are none in an installation without problems', async () => {
    const { code, problems } = await read()
    assert.deepEqual([code, problems, await counted()], [0, [], noProblems])
  })

  for (const [code, { make, reported }] of Object.entries(cases))
    it(`contain ${code}, with its subject, and nothing else`, async () => {
      await make()
      const { code: exit, problems } = await read()
      assert.deepEqual([exit, [...new Set(problems.map((one) => one.code))]], [1, [code]])
      assert.equal(problems.length, reported.length)
      for (const [at, pattern] of reported.entries())
        assert.match(`${problems[at]!.subject}: ${problems[at]!.message}`, pattern)
      assert.deepEqual(await counted(), { ...noProblems, [code]: reported.length })
    })

  it('are explained in the operating guide, each with its alert', () => {
    const folder = new URL('../../docs/operating/', import.meta.url)
    const text = (path: string) => readFileSync(new URL(path, folder), 'utf8')
    const rows = [...text('status.md').matchAll(/^\| `([a-z_]+)` \| .* \| (\S.*) \|$/gm)]
    assert.deepEqual(
      rows.map(([, code]) => code!),
      [...statusProblemCodes],
    )
    const { groups } = parse(text('prometheus/rules.yaml')) as {
      groups: { rules: { alert: string; expr: string }[] }[]
    }
    const alerts = new Map(groups.flatMap(({ rules }) => rules).map(({ alert, expr }) => [alert, expr]))
    const withGeneral = rows.filter(([, , cell]) => cell!.includes('PharosProblem'))
    const [, general] = /code=~"(.*?)"/.exec(alerts.get('PharosProblem')!)!
    assert.deepEqual(
      withGeneral.map(([, code]) => code!),
      general!.split('|'),
    )
    for (const [, code, cell] of rows) {
      const [, alert] = /^\[(Pharos\w+)\]\(runbooks\.md#\w+\)/.exec(cell!) ?? []
      assert.ok(alert === undefined ? /^no alert: \S/.test(cell!) : alerts.has(alert), `${code}: ${cell}`)
    }
  })
})
