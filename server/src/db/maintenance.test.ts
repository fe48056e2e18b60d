import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { maintain } from './maintenance.ts'
import { createTestDatabase } from './testing.ts'
import { writeAudit } from './audit.ts'

const partitionOf = (table: string) => sql<{ part: string; rows: number }>`
  select tableoid::regclass::text as part, count(*)::integer as rows from ${sql.table(table)} group by 1`

describe('maintenance', () => {
  it('creates the partitions of coming months and moves earlier rows to them, any number of times', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    const entry = { teamId: null, actor: 'operator', action: 'test.write', target: 'test:1' }
    await writeAudit(owner, entry)
    await sql`insert into audit_entries (at, actor, action, target) values (now() - interval '5 years', 'a', 'b', 'c')`.execute(
      owner,
    )
    await Promise.all([maintain(owner), maintain(owner)])
    await writeAudit(owner, entry)
    await maintain(owner)
    const month = new Date().toISOString().slice(0, 7).replace('-', '_')
    const { rows } = await partitionOf('audit_entries').execute(owner)
    assert.deepEqual(
      rows.toSorted((a, b) => a.part.localeCompare(b.part)),
      [
        { part: `audit_entries_${month}`, rows: 2 },
        { part: 'audit_entries_default', rows: 1 },
      ],
    )
  })

  it('deletes mails after ninety days, sent or not', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into mails (recipient, template, content_sealed, sent, created) values
      ('old@b.example', 'test', null, now(), now() - interval '91 days'),
      ('waiting@b.example', 'test', '', null, now() - interval '91 days'),
      ('new@b.example', 'test', null, now(), now() - interval '89 days')`.execute(owner)
    await maintain(owner)
    const { rows } = await sql<{ recipient: string }>`select recipient from mails`.execute(owner)
    assert.deepEqual(rows, [{ recipient: 'new@b.example' }])
  })

  it('deletes failed sign-ins after a day, and expired tokens of mails', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into users (email, username, password_hash) values ('a@b.example', 'a', '-')`.execute(
      owner,
    )
    await sql`insert into sign_in_failures (account_mac, origin, failures, latest) values
      ('\\x01', 'old', 9, now() - interval '25 hours'), ('\\x01', 'new', 9, now() - interval '23 hours')`.execute(
      owner,
    )
    await sql`insert into mail_tokens (id, user_id, purpose, secret_mac, email, account_state, expires)
      select gen_random_uuid(), 1, 'confirm-email', '', email, '', now() + make_interval(mins => minutes)
      from (values ('old@b.example', -1), ('new@b.example', 1)) as made (email, minutes)`.execute(owner)
    await maintain(owner)
    const failures = await sql<{ origin: string }>`select origin from sign_in_failures`.execute(owner)
    const tokens = await sql<{ email: string }>`select email from mail_tokens`.execute(owner)
    assert.deepEqual(failures.rows, [{ origin: 'new' }])
    assert.deepEqual(tokens.rows, [{ email: 'new@b.example' }])
  })

  it('deletes versions of shield lists 90 days after they were replaced, and hits of removed rules', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into teams (slug, name) values ('red', 'Red')`.execute(owner)
    await sql`insert into shield_lists (team_id, prefix, version, previous_version, confirm_by) values
      (1, '192.0.2.0/24', 4, null, null), (1, '198.51.100.0/24', 3, 1, now())`.execute(owner)
    await sql`insert into shield_versions (list_id, version, team_id, rules, cause, actor, created)
      select list_id, version, 1, '[]', 'put', 'user:1', now() - make_interval(days => days)
      from (values (1, 1, 300), (1, 2, 200), (1, 3, 91), (1, 4, 89), (2, 1, 300), (2, 2, 200), (2, 3, 100))
        as made (list_id, version, days)`.execute(owner)
    await sql`insert into shield_rules (id, list_id, team_id, sequence, enabled, action, match)
      values (1, 1, 1, 1, true, 'deny', '{}')`.execute(owner)
    await sql`insert into shield_hits (rule_id, scrubber, list_id, team_id, last_hit)
      select rule_id, 's', 1, 1, now() - make_interval(days => days)
      from (values (1, 100), (2, 100), (3, 80), (4, null)) as made (rule_id, days)`.execute(owner)
    await maintain(owner)
    const versions = await sql<{ kept: string }>`
      select list_id || '.' || version as kept from shield_versions order by 1`.execute(owner)
    assert.deepEqual(
      versions.rows.map(({ kept }) => kept),
      ['1.3', '1.4', '2.1', '2.3'],
    )
    const hits = await sql<{ rule_id: number }>`select rule_id from shield_hits order by 1`.execute(owner)
    assert.deepEqual(
      hits.rows.map(({ rule_id }) => rule_id),
      [1, 3],
    )
  })

  it('deletes expired invitations, accepted ones among them, and no member', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into teams (slug, name) values ('red', 'Red')`.execute(owner)
    await sql`insert into users (email, username, password_hash) values ('a@b.example', 'a', '-')`.execute(
      owner,
    )
    await sql`insert into memberships (team_id, user_id, roles) values (1, 1, '{editor}')`.execute(owner)
    await sql`
      insert into invitations (team_id, email, roles, token_mac, inviter, inviter_name, expires, accepted, accepted_by)
      values (1, 'over@b.example', '{editor}', '', 'user:1', 'a', now() - interval '1 minute', null, null),
        (1, 'a@b.example', '{editor}', '', 'user:1', 'a', now() - interval '1 minute', now(), 1),
        (1, 'open@b.example', '{editor}', '', 'user:1', 'a', now() + interval '1 minute', null, null)`.execute(
      owner,
    )
    await maintain(owner)
    const { rows } = await sql<{ email: string }>`select email from invitations`.execute(owner)
    assert.deepEqual(rows, [{ email: 'open@b.example' }])
    assert.equal((await sql`select from memberships`.execute(owner)).rows.length, 1)
  })

  it('deletes what waits for a disabled webhook after thirty days', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into teams (slug, name) values ('red', 'Red')`.execute(owner)
    await sql`insert into webhooks (team_id, url, events, enabled, disabled_reason, secret_sealed, created_by) values
      (1, 'https://a.example', '{event.started}', true, null, '', 'user:1'),
      (1, 'https://b.example', '{event.started}', false, 'user', '', 'user:1')`.execute(owner)
    await sql`insert into webhook_deliveries (webhook_id, team_id, message_id, type, body, created)
      select w.id, 1, 'msg_' || w.id || '_' || days, 'event.started', '{}', now() - make_interval(days => days)
      from webhooks w, unnest(array[29, 31]) days`.execute(owner)
    await maintain(owner)
    const { rows } = await sql<{ message_id: string }>`
      select message_id from webhook_deliveries order by 1`.execute(owner)
    assert.deepEqual(
      rows.map(({ message_id }) => message_id),
      ['msg_1_29', 'msg_1_31', 'msg_2_29'],
    )
  })

  it('deletes everything else if one kind of rows cannot be deleted, and reports that', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'kept'; end $$`.execute(
      owner,
    )
    await sql`create trigger kept before delete on idempotency_keys for each row execute function refuse()`.execute(
      owner,
    )
    await sql`insert into idempotency_keys (credential, key, request_hash, status, created)
      values ('user:1', 'old', '', 200, now() - interval '25 hours')`.execute(owner)
    await sql`insert into mails (recipient, template, sent, created)
      values ('old@b.example', 'test', now(), now() - interval '91 days')`.execute(owner)
    await assert.rejects(maintain(owner), /kept/)
    assert.deepEqual((await sql`select from mails`.execute(owner)).rows, [])
  })

  it('deletes idempotency keys after a day', async () => {
    await using database = await createTestDatabase()
    const { owner } = database.postgres
    await sql`insert into teams (slug, name) values ('red', 'Red')`.execute(owner)
    for (const [key, age] of [
      ['old', '25 hours'],
      ['new', '23 hours'],
    ] as const) {
      await sql`insert into idempotency_keys (team_id, credential, key, request_hash, status, created)
        values (1, 'user:1', ${key}, '', 200, now() - ${age}::interval)`.execute(owner)
    }
    await maintain(owner)
    const { rows } = await sql<{ key: string }>`select key from idempotency_keys`.execute(owner)
    assert.deepEqual(rows, [{ key: 'new' }])
  })
})
