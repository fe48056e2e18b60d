// The embedded ClickHouse binds parameters as literals: these tests are the wall between a value and the statement around it.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { insertFromFile, insertsBody, plainStatement, StatementError } from './statement.ts'

const none = new Map<string, string>()
const values = (entries: Record<string, string>) => new Map(Object.entries(entries))

/** Escapes a text like the client, as in TabSeparated. */
const escapeTsv = (text: string): string =>
  text.replace(
    /[\\\0\b\f\n\r\t]/g,
    (char) => `\\${{ '\\': '\\', '\0': '0', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' }[char]!}`,
  )

/** Parses the literal at the beginning like ClickHouse, and returns it with the rest. */
function readLiteral(sql: string): [value: string, rest: string] {
  const found = /^'((?:[^'\\]|\\[\s\S])*)'/.exec(sql)
  assert.ok(found, `no literal: ${sql}`)
  return [found[1]!.replace(/\\([\s\S])/g, '$1'), sql.slice(found[0].length)]
}

describe('a statement of the embedded ClickHouse', () => {
  it('contains every text as one literal, whatever is in it', () => {
    const texts = fc.string({
      unit: fc.constantFrom("'", '\\', '{', '}', ':', '\n', '\0', 'a', '-', '/', '*', '`', '"', 'é', '🦭'),
    })
    fc.assert(
      fc.property(texts, (text) => {
        const sql = plainStatement('select {x:String}', values({ x: escapeTsv(text) }), none, 'TabSeparated')
        assert.ok(sql.startsWith('select CAST('))
        const [value, rest] = readLiteral(sql.slice('select CAST('.length))
        assert.deepEqual([value, rest], [text, ", 'String')\nFORMAT TabSeparated"])
      }),
    )
  })

  it('contains values of arrays as they are, in one literal', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const sql = plainStatement('select {x:Array(String)}', values({ x: text }), none, 'TabSeparated')
        const [value, rest] = readLiteral(sql.slice('select CAST('.length))
        assert.deepEqual([value, rest], [text, ", 'Array(String)')\nFORMAT TabSeparated"])
      }),
    )
  })

  it('has values only where placeholders are', () => {
    const sql = `select '{x:String}', "{x:String}", \`{x:String}\`, 'it''s {x:String}', '\\'{x:String}' -- {x:String}\n, {x:String} /* {x:String} */`
    const bound = plainStatement(sql, values({ x: 'v' }), none, 'TabSeparated')
    assert.equal(bound.split("CAST('v', 'String')").length, 2)
    assert.equal(bound.split('{x:String}').length, 8)
  })

  it('accepts plain names as identifiers only', () => {
    assert.match(
      plainStatement('select 1 from {t:Identifier}', values({ t: 'flows' }), none, 'CSV'),
      /from `flows`/,
    )
    for (const name of ['a`b', 'a.b', '', '1a', 'a b'])
      assert.throws(
        () => plainStatement('select 1 from {t:Identifier}', values({ t: name }), none, 'CSV'),
        StatementError,
      )
  })

  it('applies settings to the whole statement, and rejects what is no name of one', () => {
    const settings = values({ max_execution_time: '5', token: "it's" })
    assert.equal(
      plainStatement('select 1 union all select 2;', none, settings, 'JSONEachRow'),
      "select 1 union all select 2\nFORMAT JSONEachRow SETTINGS max_execution_time = 5, token = 'it\\'s'",
    )
    assert.equal(
      plainStatement('select 1 format CSV', none, settings, 'TSV').split(' SETTINGS ')[0],
      'select 1 format CSV',
    )
    for (const name of ['a=1, b', 'A', 'a b', '', "a'"])
      assert.throws(() => plainStatement('select 1', none, values({ [name]: '1' }), 'CSV'), { code: 115 })
    assert.throws(() => plainStatement('create table t (a UInt8)', none, settings, 'CSV'), { code: 115 })
  })

  it('inserts a body from a file', () => {
    assert.equal(insertsBody('INSERT INTO flows FORMAT Native'), true)
    assert.equal(insertsBody('insert into flows select 1'), false)
    assert.equal(
      insertFromFile(
        'INSERT INTO flows FORMAT Native',
        none,
        values({ insert_deduplication_token: 'a' }),
        "/tmp/it's",
      ),
      "INSERT INTO flows FROM INFILE '/tmp/it\\'s' SETTINGS insert_deduplication_token = 'a' FORMAT Native",
    )
  })
})
