// The conformance suite of the port FlowStore, run on the embedded ClickHouse and, with PHAROS_TEST_CLICKHOUSE_URL, on a server.
// It uses the port only.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DriverError, QueryTooExpensive } from '../runtime/driver-error.ts'
import type { FlowStore } from './flow-store.ts'

export type FlowStoreFixture = {
  readonly store: FlowStore
  /**
   * A block of `flows` with `rows` rows of a team, `stepSeconds` (0 if unset) apart; `time` belongs to the first, in
   * Unix seconds.
   */
  block(rows: number, teamId: number, time: number, stepSeconds?: number): Uint8Array
  stop(): Promise<void>
}

const now = Math.floor(Date.now() / 1000)
const startOfDay = now - (now % 86_400)

/** Runs the suite; `make` returns an empty, migrated store. */
export function flowStoreConformance(name: string, make: () => Promise<FlowStoreFixture>): void {
  describe(`the flow store ${name}`, () => {
    let fixture: FlowStoreFixture
    let store: FlowStore
    before(async () => {
      fixture = await make()
      store = fixture.store
    })
    after(() => fixture?.stop())

    /** Rows of a team, and the flows that each rollup counted. */
    const countsOf = async (team: number) => {
      const tables = ['protocol', 'service', 'interface'].flatMap((one) => [
        `(select sum(flows) from flows_by_${one}_1m where team_id = {team:UInt32})`,
        `(select sum(flows) from flows_by_${one}_1h where team_id = {team:UInt32})`,
      ])
      const [row] = await store.query<{ counts: number[] }>(
        `select [(select count() from flows where team_id = {team:UInt32}), ${tables.join(', ')}] as counts`,
        { team },
      )
      return row!.counts
    }
    const seven = (count: number) => Array.from({ length: 7 }, () => count)

    it('reports its version', async () => {
      const { version } = await store.probe()
      assert.match(version, /^\d+\.\d+/)
    })

    it('stores a block and its rollups', async () => {
      await store.insert('flows', fixture.block(1000, 1, now), 'stores')
      assert.deepEqual(await countsOf(1), seven(1000))
    })

    it('stores a block that is repeated with its token once, rollups included', async () => {
      const block = fixture.block(500, 2, now)
      for (let time = 0; time < 3; time++) await store.insert('flows', block, 'repeated')
      await store.insert('flows', fixture.block(500, 2, now), 'another')
      assert.deepEqual(await countsOf(2), seven(1000))
    })

    it('stores equal blocks with different tokens each', async () => {
      const block = fixture.block(10, 3, now)
      await store.insert('flows', block, 'equal-1')
      await store.insert('flows', block, 'equal-2')
      assert.deepEqual(await countsOf(3), seven(20))
    })

    it('stores a repeated block once if it spans two days', async () => {
      const block = fixture.block(10, 4, startOfDay - 5, 1)
      for (let time = 0; time < 3; time++) await store.insert('flows', block, 'two-days')
      assert.deepEqual(await countsOf(4), seven(10))
    })

    it('stores concurrent repeats once', async () => {
      const block = fixture.block(2000, 5, now)
      await Promise.all(Array.from({ length: 4 }, () => store.insert('flows', block, 'concurrent')))
      assert.deepEqual(await countsOf(5), seven(2000))
    })

    const texts = [
      "it's",
      '\\',
      '\\n',
      'a\tb\nc\rd',
      "'; drop table flows --",
      '{team:UInt32}',
      '\0',
      'é 🦭',
      '',
      '\\N',
      '`"/* */',
    ]
    for (const text of texts) {
      it(`returns the text ${JSON.stringify(text)} of a parameter unchanged`, async () => {
        const rows = await store.query('select {text:String} as text, {list:Array(String)} as list', {
          text,
          list: [text, text],
        })
        assert.deepEqual(rows, [{ text, list: [text, text] }])
      })
    }

    it('binds parameters of every type', async () => {
      const sql = `select {n:UInt64} as n, {negative:Int32} as negative, {yes:Bool} as yes, {f:Float64} as f, {list:Array(UInt32)} as list,
        {empty:Array(UInt32)} as empty, {at:DateTime('UTC')} as at, {v6:IPv6} as v6, {country:FixedString(2)} as country`
      const params = {
        n: 2 ** 53,
        negative: -5,
        yes: true,
        f: 1.5,
        list: [1, 4_294_967_295],
        empty: [],
        at: 1_767_225_600,
        v6: '::ffff:192.0.2.1',
        country: 'NL',
      }
      assert.deepEqual(await store.query(sql, params), [{ ...params, at: '2026-01-01 00:00:00' }])
    })

    it('binds thousands of parameters', async () => {
      const names = Array.from({ length: 5000 }, (_, at) => `parameter_${at}`)
      const sql = `select arraySum([${names.map((name) => `{${name}:UInt32}`).join(', ')}]) as sum`
      const rows = await store.query(sql, Object.fromEntries(names.map((name, at) => [name, at])))
      assert.deepEqual(rows, [{ sum: (5000 * 4999) / 2 }])
    })

    it('leaves what looks like a placeholder in texts and comments alone', async () => {
      const rows = await store.query(
        "select '{a:String}' as `{b:String}` -- {c:String}\n /* {d:String} */",
        {},
      )
      assert.deepEqual(rows, [{ '{b:String}': '{a:String}' }])
    })

    it('rejects a statement whose parameter is missing', async () => {
      await assert.rejects(store.query('select {a:String}', {}), isRefused)
    })

    it('returns 64-bit integers as numbers', async () => {
      assert.deepEqual(await store.query('select toUInt64(9007199254740991) as n', {}), [
        { n: Number.MAX_SAFE_INTEGER },
      ])
    })

    it('selects rows of a team by its key', async () => {
      const rows = await store.query<{ explain: string }>(
        'explain indexes = 1 select count() from flows where team_id = {team:UInt32} and src_port > 0',
        { team: 1 },
      )
      assert.match(rows.map(({ explain }) => explain).join('\n'), /PrimaryKey[\s\S]*team_id/)
    })

    const limited: [string, string, Parameters<FlowStore['query']>[2]][] = [
      ['time', 'select sum(sleepEachRow(0.1)) from numbers(100) settings max_block_size = 1', { seconds: 1 }],
      ['memory', 'select length(groupArray(number)) from numbers(50000000)', { memoryBytes: 10_000_000 }],
      ['rows returned', 'select number from numbers(1001)', { resultRows: 1000 }],
      ['rows read', 'select sum(number) from numbers(1000000)', { rowsToRead: 1000 }],
    ]
    for (const [what, sql, limits] of limited) {
      it(`limits the ${what} of a query`, async () => {
        await assert.rejects(store.query(sql, {}, limits), QueryTooExpensive)
        assert.deepEqual(await store.query('select 1 as one', {}), [{ one: 1 }])
      })
    }

    it('answers other queries while one is slow', async () => {
      let isDone = false
      const slow = store
        .query('select sum(sleepEachRow(0.1)) from numbers(20) settings max_block_size = 1', {})
        .then(() => (isDone = true))
      await store.query('select {n:UInt8}', { n: 1 })
      assert.equal(isDone, false)
      await slow
    })

    it('refuses wrong SQL, unknown tables and invalid blocks, and works on', async () => {
      await assert.rejects(store.query('selekt 1', {}), isRefused)
      await assert.rejects(store.query('select * from nothing', {}), isRefused)
      await assert.rejects(store.insert('flows', new Uint8Array([1, 1, 1]), 'invalid'), isRefused)
      await assert.rejects(store.insert('nothing', fixture.block(1, 1, now), 'unknown'), isRefused)
      await assert.rejects(
        store.insert('flows; drop table flows', fixture.block(1, 1, now), 'name'),
        isRefused,
      )
      await store.insert('flows', fixture.block(1, 6, now), 'after')
      assert.deepEqual(await countsOf(6), seven(1))
    })

    it('keeps the settings of a query from the next one', async () => {
      await assert.rejects(
        store.query('select number from numbers(10)', {}, { resultRows: 1 }),
        QueryTooExpensive,
      )
      assert.equal((await store.query('select number from numbers(10)', {})).length, 10)
    })

    it('applies every statement and reports it as done', async () => {
      await store.command('alter table flows drop partition {day:UInt32}', { day: 19_700_101 })
      await assert.rejects(store.command('alter table nothing drop partition 1'), isRefused)
    })

    it('fails once it is closed', async () => {
      await fixture.stop()
      await assert.rejects(store.query('select 1', {}), (error: DriverError) => error.kind === 'unreachable')
    })
  })
}

const isRefused = (error: unknown): boolean => error instanceof DriverError && error.kind === 'refused'
