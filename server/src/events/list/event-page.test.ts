// Compares the statements of the related list with list-events.golden.sql, which contains them in full.
// After a change: PHAROS_WRITE_GOLDEN=1 npm test -- server/src/events/list/event-page.test.ts
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { pageStatement } from './event-page.store.ts'
import { parseEventQuery } from './event-query.ts'

const compiler = new Kysely({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

const week = { start: '2026-03-01T12:00:00Z', end: '2026-03-08T12:00:00Z' }
const deep = { offset: 1_000_000 }
const flag = ['IPV6'] as const

const shapes: Record<string, Partial<Parameters<typeof parseEventQuery>[0]>> = {
  'first page without a filter': {},
  'second page by start': { offset: 100 },
  'deep page by start': deep,
  'by start with a flag': { flag: [...flag] },
  'by start in a window': week,
  'deep page by start in a window, with a flag': { ...week, ...deep, flag: [...flag] },
  'by end': { ordering: '-event__end' },
  'deep page by end': { ordering: '-event__end', ...deep },
  'deep page by rate': { ordering: '-event__affected_bps', ...deep },
  'by rate in a window': { ordering: '-event__affected_bps', ...week },
  'by start with a status and a class': { status: ['EVENT_ENDED'], classification_key: ['udp.flood'] },
  'deep page by start of a source': { source_key: ['edge'], ...deep },
  'by rate of a source': { source_key: ['edge'], ordering: '-event__affected_bps' },
  'by start with a minimum rate': { min_bps: 1_000_000_000 },
  'by start with a minimum rate and a status': { min_bps: 1_000_000_000, status: ['EVENT_ENDED'] },
  'by rate, not ended': { ongoing: true, ordering: '-event__affected_bps' },
  'by start, ended': { ongoing: false },
  'by search': { search: 'flood' },
  'by search for an address': { search: '203.0.113.7' },
  'by network': { affected_network: '203.0.113.0/24' },
  'by description': { description: 'flood' },
}

const clause =
  /^(with|select|from|where|order by|offset|limit|union all|(cross |left )?join|group by|\w+ as materialized)\b/

/** One line per clause of a query, indented by depth; short queries stay on one line. */
function format(sql: string): string {
  const rest = sql.replaceAll(/\s+/g, ' ').trim()
  const queries: boolean[] = []
  let text = ''
  for (let at = 0; at < rest.length; at++) {
    const here = rest.slice(at)
    if (/[\s(]$/.test(text) && queries.at(-1) !== false && clause.test(here) && !/(cross|left) $/.test(text))
      text = `${text.trimEnd()}\n${'  '.repeat(queries.filter(Boolean).length)}`
    if (here[0] === '(') queries.push(/^\(\s*[(]*\s*select/.test(here))
    if (here[0] === ')') queries.pop()
    text += here[0]
  }
  return text.replaceAll(/\(\n\s+(select [^()\n]{1,20})\n\s+(from \w+\))/g, '($1 $2').trim()
}

function golden(): string {
  const header = `-- The statements of the related list, written by event-page.test.ts and never run from here.
-- $1, $2, ... are parameters; why they are what they are is in event-page.store.ts.
`
  const statements = Object.entries(shapes).map(([name, query]) => {
    const parsed = parseEventQuery({ ordering: 'event__start', limit: 100, offset: 0, ...query })
    return `\n-- ${name}\n${format(pageStatement(7, parsed).compile(compiler).sql)};\n`
  })
  return header + statements.join('')
}

test('the statements of the related list match the golden file', () => {
  const file = new URL('list-events.golden.sql', import.meta.url)
  if (process.env['PHAROS_WRITE_GOLDEN']) writeFileSync(file, golden())
  assert.equal(golden(), readFileSync(file, 'utf8'))
})
