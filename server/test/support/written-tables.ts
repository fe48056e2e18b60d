// Reports the tables written since the last call, by triggers on every table: a call costs a fraction of a millisecond. Rolled-back
// changes are not included.
import { sql } from 'kysely'
import type { Db } from '../../src/db/postgres.ts'

/** Installs the triggers and returns a function that lists the changes since its last call. */
export async function trackWrittenTables(db: Db): Promise<() => Promise<string[]>> {
  await sql`create unlogged table test_journal (change text not null)`.execute(db)
  // Ignored: the count of wrong second-factor codes, like that of failed sign-ins, which delays the next attempt; the last use of
  // an API token, which is recorded for every call including refused ones; and the audit of the refusal a moment later.
  await sql`
    create function test_note() returns trigger language plpgsql security definer set search_path = public as $$
    begin
      if tg_table_name = 'api_tokens' and tg_op = 'UPDATE'
        and to_jsonb(new) - 'last_used' - 'last_used_address' = to_jsonb(old) - 'last_used' - 'last_used_address'
        then return null; end if;
      if tg_table_name = 'second_factors' and tg_op = 'UPDATE'
        and to_jsonb(new) - 'wrong_codes' - 'wrong_since' = to_jsonb(old) - 'wrong_codes' - 'wrong_since'
        then return null; end if;
      if tg_table_name = 'audit_unsealed' or to_jsonb(new)->>'action' like '%.refuse' then return null; end if;
      insert into test_journal values (lower(tg_op) || ' ' || tg_table_name);
      return null;
    end $$`.execute(db)
  // Ignored: the count of failed sign-ins, which delays the next attempt.
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition and relname not in ('test_journal', 'sign_in_failures')`.execute(
    db,
  )
  for (const { name } of rows) {
    await sql`create trigger test_note after insert or update or delete on ${sql.table(name)}
      for each row execute function test_note()`.execute(db)
  }
  return async () => {
    const changes = await sql<{ change: string }>`delete from test_journal returning change`.execute(db)
    return changes.rows.map(({ change }) => change)
  }
}
