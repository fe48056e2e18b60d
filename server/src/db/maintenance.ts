// Periodic maintenance of the database: partitions for the coming months, and deletion of expired rows. Every statement may run any
// number of times, in any number of processes.
import { sql } from 'kysely'
import type { Db } from './postgres.ts'

/** Idempotency keys are kept for 24 hours; ended sessions and mails for as long as they may be inspected. */
const expired = [
  sql`delete from idempotency_keys where created < now() - interval '24 hours'`,
  sql`delete from sessions where coalesce(revoked, expires) < now() - interval '90 days'`,
  sql`delete from mail_tokens where expires < now()`,
  sql`delete from used_challenges where expires < now()`,
  sql`delete from auth_flows where expires < now()`,
  sql`delete from sso_assertions where expires < now()`,
  sql`delete from sso_attempts where at < now() - interval '30 days'`,
  sql`delete from sign_in_failures where latest < now() - interval '24 hours'`,
  sql`delete from invitations where expires < now()`,
  sql`delete from mails where created < now() - interval '90 days'`,
  sql`delete from notifications where at < now() - interval '90 days'`,
  sql`update attachments set content = null
    where subject_kind = 'event' and content is not null and created < now() - interval '90 days'`,
  sql`delete from attachments a
    where subject_kind = 'event' and created < now() - interval '7 days' and created_by like 'source:%'
      and not exists (select from events e where e.id = a.subject_id)`,
  // No message is about an event that ended a day ago.
  sql`delete from incident_reports where reported < now() - interval '7 days' and end_at < now() - interval '7 days'`,
  sql`delete from outbox where at < now() - interval '7 days'`,
  sql`delete from webhook_deliveries where created < now() - interval '30 days' and state <> 'pending'`,
  // A message that was written while its webhook was being disabled.
  sql`delete from webhook_deliveries d using webhooks w
    where w.id = d.webhook_id and not w.enabled and d.state = 'pending' and d.created < now() - interval '30 days'`,
  // List versions that were replaced 90 days ago, except the version that is restored if the newest is not confirmed.
  sql`delete from shield_versions v using shield_lists l
    where l.id = v.list_id and v.version is distinct from l.previous_version
      and exists (select from shield_versions n
        where n.list_id = v.list_id and n.version > v.version and n.created < now() - interval '90 days')`,
  // A rule that returns with its list begins again at 0.
  sql`delete from shield_hits h
    where coalesce(last_hit, '-infinity') < now() - interval '90 days'
      and not exists (select from shield_rules r where r.id = h.rule_id)`,
  sql`delete from region_withdrawals where at < now() - interval '1 day'`,
]

/** A failed statement, for example after a timeout, does not stop the others. Throws the first error. */
export async function maintain(db: Db): Promise<void> {
  const createPartitions = sql`select create_month_partitions((now() + make_interval(months => ahead))::date)
    from generate_series(0, 2) ahead`
  const errors: unknown[] = []
  for (const statement of [createPartitions, ...expired])
    await statement.execute(db).catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}
