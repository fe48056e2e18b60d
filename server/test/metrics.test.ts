// The metrics of the whole installation at /metrics, on a real database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Gauge } from 'prom-client'
import { createTestDatabase } from '../src/db/testing.ts'
import { watchInstallation } from '../src/status/figures.ts'
import { collectProcessMetrics, createMetrics } from '../src/runtime/metrics.ts'
import { statusConfig } from './support/status-config.ts'

test('the state of the installation is read from the database at each scrape', async () => {
  await using database = await createTestDatabase()
  const { owner } = database.postgres
  await sql`insert into locations (key, name, country, timezone) values ('a', 'A', 'NL', 'UTC')`.execute(
    owner,
  )
  await sql`insert into regions (slug, name, location_key, speakers, last_check, last_check_result) values
    ('ams', 'A', 'a', '[]', to_timestamp(1700000000), false), ('fra', 'F', 'a', '[]', null, null)`.execute(
    owner,
  )
  await sql`update regions set speakers = '[{"name":"r1"},{"name":"r2"},{"name":"r3"},{"name":"r4"}]' where slug = 'ams'`.execute(
    owner,
  )
  await sql`insert into region_routers (region_id, name, last_check_result, drained, neighbors)
    select id, n.name, n.up, n.drained, '[{"state":"established"},{"state":"idle"}]' from regions,
      (values ('r1', true, null), ('r2', false, null), ('r4', true, now()), ('removed', true, null)) n (name, up, drained)
    where slug = 'ams'`.execute(owner)
  await sql`insert into approvals (area, kind, region_id, findings, item_count, evidence)
    select 'routes', 'changes', id, '[{"reason": "too_many_withdrawals"}]'::jsonb, 1, '' from regions where slug = 'ams'
    union all select 'dns', 'catalog', null, '[{"reason": "catalog_empty"}]', 1, ''`.execute(owner)
  await sql`insert into former_speakers (region_id, name, settings, identity, since, prefixes)
    select id, n.name, '{}', n.name, now() - n.age, n.prefixes from regions, (values
      ('r8', interval '20 minutes', '{192.0.2.0/24,198.51.100.0/24}'::cidr[]), ('r9', interval '1 minute', '{2001:db8::/32}'))
      n (name, age, prefixes) where slug = 'ams'`.execute(owner)
  await sql`insert into sources (key, kind, name, secret_mac) values ('s', 'fastnetmon', 'S', '')`.execute(
    owner,
  )
  await sql`insert into deliveries (source_key, delivery_id, received, body, state) values
    ('s', '1', now() - interval '90 seconds', '', 'new'), ('s', '2', now(), '', 'new'), ('s', '3', now(), '', 'done')`.execute(
    owner,
  )
  await sql`insert into mails (recipient, template, content_sealed, created, sent) values
    ('a@b.example', 'test', '', now() - interval '80 seconds', null), ('a@b.example', 'test', '', now(), null),
    ('a@b.example', 'test', null, now() - interval '1 day', now())`.execute(owner)
  await sql`insert into dns_servers (name, kind, checked, error) values ('ns1.example.', 'sandbox', now(), null),
    ('ns2.example.', 'sandbox', now(), 'unreachable'), ('ns3.example.', 'sandbox', null, null)`.execute(owner)
  await sql`insert into dns_zones (name, name_key, kind, deleted) values ('a.', 'a', 'primary', null),
    ('b.', 'b', 'secondary', null), ('c.', 'c', 'primary', now())`.execute(owner)
  await sql`insert into dns_served (zone_id, name_key, type, ttl, rdata, expires)
    select id, name_key, 6, 0, '{}', case name when 'a.' then to_timestamp(1700000000) else to_timestamp(1600000000) end
    from dns_zones`.execute(owner)
  const metrics = createMetrics()
  watchInstallation(metrics, owner, statusConfig)
  const [text] = await Promise.all([metrics.registry.metrics(), metrics.registry.metrics()])
  const expected = [
    /^pharos_postgres_up 1$/m,
    /^pharos_deliveries_waiting 2$/m,
    /^pharos_deliveries_oldest_wait_seconds 9\d(\.\d+)?$/m,
    /^pharos_mails_waiting 2$/m,
    /^pharos_mails_oldest_wait_seconds ([89]\d|\d{3,})(\.\d+)?$/m,
    /^pharos_region_last_check_timestamp_seconds\{region="ams"\} 1700000000$/m,
    /^pharos_region_last_check_ok\{region="ams"\} 0$/m,
    /^pharos_router_up\{region="ams",router="r1"\} 1$/m,
    /^pharos_router_up\{region="ams",router="r2"\} 0$/m,
    /^pharos_region_neighbors\{region="ams",router="r1"\} 1$/m,
    /^pharos_region_neighbors\{region="ams",router="r2"\} 0$/m,
    /^pharos_approvals_open\{area="routes",subject="ams"\} 1$/m,
    /^pharos_approvals_open\{area="routes",subject="fra"\} 0$/m,
    /^pharos_approvals_open\{area="dns",subject=""\} 1$/m,
    /^pharos_approvals_open\{area="shield",subject=""\} 0$/m,
    /^pharos_approvals_open\{area="platform",subject=""\} 0$/m,
    /^pharos_former_routers\{region="ams"\} 2$/m,
    /^pharos_former_routers\{region="fra"\} 0$/m,
    /^pharos_former_router_routes\{region="ams"\} 3$/m,
    /^pharos_former_router_oldest_seconds\{region="ams"\} 12\d\d(\.\d+)?$/m,
    /^pharos_former_router_oldest_seconds\{region="fra"\} 0$/m,
    /^pharos_region_routes_missing\{region="ams"\} 0$/m,
    /^pharos_announcements_unseen\{reason="not_visible"\} 0$/m,
    /^pharos_name_server_up\{server="ns1.example"\} 1$/m,
    /^pharos_name_server_up\{server="ns2.example"\} 0$/m,
    /^pharos_dns_signatures_expire_timestamp_seconds 1700000000$/m,
    // At least the connection that reads the figures; other reads of the same scrape may run beside it.
    /^pharos_postgres_connections\{use="owner",state="active"\} [1-9]$/m,
  ]
  for (const pattern of expected) assert.match(text, pattern)
  assert.doesNotMatch(text, /server="ns3/)
  assert.doesNotMatch(text, /router="(r3|removed)"/)
  // A drained router needs no session.
  assert.match(text, /^pharos_router_up\{region="ams",router="r4"\} 1$/m)
  assert.doesNotMatch(text, /^pharos_region_neighbors\{region="ams",router="r4"\}/m)
  assert.doesNotMatch(text, /last_check_ok\{region="fra"\}/)
})

test('without a database the metrics report that, and no outdated values of any metric of the installation', async () => {
  const metrics = createMetrics()
  const database = await createTestDatabase()
  watchInstallation(metrics, database.postgres.owner, statusConfig)
  await database[Symbol.asyncDispose]()
  // Other gauges: a second scrape within a second returns the figures of the first.
  const names = (await createMetrics().registry.getMetricsAsJSON())
    .filter(({ help }) => help.startsWith('Installation:'))
    .map(({ name }) => name)
  assert.ok(names.length > 20)
  for (const name of names) (metrics.registry.getSingleMetric(name) as Gauge).set(7)
  const text = await metrics.registry.metrics()
  assert.match(text, /^pharos_postgres_up 0$/m)
  assert.deepEqual(
    names.filter((name) => new RegExp(`^${name}(\\{.*\\})? \\S`, 'm').test(text)),
    [],
  )
})

test('the process reports its own memory and event loop', async () => {
  const metrics = createMetrics()
  collectProcessMetrics(metrics)
  assert.match(await metrics.registry.metrics(), /^process_resident_memory_bytes \d+$/m)
})
