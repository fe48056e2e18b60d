import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkMigrations } from './check-migrations.ts'
import { listMigrations, migrationsFolder, type Migration } from './migration-file.ts'

function problemsOf(sql: string, rest: Partial<Migration> = {}): string[] {
  const migration = { number: 80, file: '080-a.sql', sha256: '', phase: 'expand', runsWith: '0.2.0' } as const
  return checkMigrations([{ ...migration, sql, ...rest }], '0.3.0')
}

const refused: readonly (readonly [sql: string, problem: RegExp])[] = [
  ['drop table cats', /drops/],
  ['alter table cats drop column coat', /drops/],
  ['ALTER TABLE cats\n  DROP CONSTRAINT cats_coat_check', /drops/],
  ['alter table cats drop constraint a, add constraint b check (true) not valid', /drops/],
  ['alter table cats rename column coat to fur', /renames/],
  ['alter table cats alter column coat set not null', /refuses rows/],
  ['alter table cats alter coat type text', /changes the type/],
  ['alter table cats alter column coat set data type text using coat::text', /changes the type/],
  [`update cats set coat = 'a'`, /writes every row/],
  ['with c as (select 1) update cats set coat = (select * from c)', /writes every row/],
  ['delete from cats', /writes every row/],
  ['do $$ begin update cats set coat = null; end $$', /writes every row/],
  ['alter table cats add column coat text not null', /does not fill/],
  ['alter table cats add column a text default 1, add column coat text not null', /does not fill/],
  ['alter table cats add constraint c check (coat is not null)', /not valid/],
  ['alter table cats add foreign key (owner_id) references owners', /not valid/],
  ['create table dogs (id integer); drop table cats', /drops/],
]

const accepted = [
  `create table dogs (id integer primary key, name text not null, owner_id integer references owners on delete cascade)`,
  `alter table cats add column coat text, add column size integer not null default 0`,
  `alter table cats drop constraint cats_coat_check, add constraint cats_coat_check check (coat in ('a', 'b', 'c')) not valid`,
  `create or replace function f() returns trigger language plpgsql as $$ begin update cats set coat = 1; drop table dogs; end $$`,
  `-- drop table cats;\ncomment on table cats is 'drop; update cats'`,
  `grant select, update (coat), insert, delete on cats to pharos_tenant`,
  `create trigger t after update of coat on cats for each row execute function f()`,
  `insert into settings (key) values ('a')`,
]

describe('the check of migrations', () => {
  for (const [sql, problem] of refused)
    it(`refuses in an expand step: ${sql.replaceAll('\n', ' ')}`, () => {
      const problems = problemsOf(sql)
      assert.equal(problems.length, 1, problems.join('\n'))
      assert.match(problems[0]!, /^080-a\.sql: /)
      assert.match(problems[0]!, problem)
      assert.deepEqual(problemsOf(sql, { phase: 'contract' }), [])
      assert.deepEqual(problemsOf(sql, { phase: null, runsWith: null }), [])
    })

  for (const sql of accepted)
    it(`accepts: ${sql.slice(0, 80).replaceAll('\n', ' ')}`, () => assert.deepEqual(problemsOf(sql), []))

  it('refuses a step for a release after this one', () => {
    assert.match(problemsOf('', { runsWith: '0.3.1' }).join(), /runs with 0\.3\.1, but this is 0\.3\.0/)
    assert.deepEqual(problemsOf('', { runsWith: '0.3.0', phase: 'contract' }), [])
  })

  it('finds nothing in the migrations of the product', () => {
    assert.deepEqual(checkMigrations(listMigrations(migrationsFolder)), [])
  })
})
