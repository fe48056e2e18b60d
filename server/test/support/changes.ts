// Reports the rows changed since the last call, by triggers on every table: a call costs a fraction of a millisecond. Rolled-back
// changes, and updates that leave a row as it is, are not included.
import { sql } from 'kysely'
import type { Db } from '../../src/db/postgres.ts'

/** Returns the changes since its last call, such as `update teams`. */
export type Changes = () => Promise<string[]>

/** Installs the triggers and returns the function that lists the changes. */
export async function trackChanges(db: Db): Promise<Changes> {
  await sql`create unlogged table test_journal (change text not null)`.execute(db)
  // Ignored: the count of wrong second-factor codes, like that of failed sign-ins, which delays the next attempt; the last use of
  // a token, which is recorded for every call including refused ones; and the audit of the refusal a moment later.
  await sql`
    create function test_note() returns trigger language plpgsql security definer set search_path = public as $$
    declare
      ignored text[] := case tg_table_name
        when 'api_tokens' then '{last_used,last_used_address}'
        when 'staff_tokens' then '{last_used,last_used_address}'
        when 'identity_providers' then '{unreachable}'
        when 'second_factors' then '{wrong_codes,wrong_since}'
        else '{}' end;
    begin
      if tg_op = 'UPDATE' and to_jsonb(new) - ignored = to_jsonb(old) - ignored then return null; end if;
      if tg_table_name = 'audit_unsealed' or to_jsonb(new)->>'action' like '%.refuse' then return null; end if;
      insert into test_journal values (lower(tg_op) || ' ' || tg_table_name);
      return null;
    end $$`.execute(db)
  // Ignored: the count of failed sign-ins, which delays the next attempt, and the list of failed sign-ins for admins.
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition and relname not in ('test_journal', 'sign_in_failures', 'sso_attempts')`.execute(
    db,
  )
  for (const { name } of rows) {
    await sql`create trigger test_note after insert or update or delete on ${sql.table(name)}
      for each row execute function test_note()`.execute(db)
  }
  return async () => {
    const changes = await sql<{ change: string }>`delete from test_journal returning change`.execute(db)
    // Otherwise each call would read the pages that the many changes of fixtures have left.
    if (changes.rows.length > 1_000) await sql`truncate test_journal`.execute(db)
    return changes.rows.map(({ change }) => change)
  }
}
