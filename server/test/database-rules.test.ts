// The triggers of the database are listed in docs/architecture.md, and notifications of teams are written by code beside the
// change. Both are read from the sources, so that no trigger and no writer is added unnoticed.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

describe('the triggers of the database', () => {
  it('are those that docs/architecture.md lists, each with the reason for it', () => {
    const schema = read('server/src/db/schema.sql')
    const stored = new Set(
      [...schema.matchAll(/^CREATE TRIGGER .* ON public\.(\w+) .*EXECUTE FUNCTION (\w+)\(/gm)]
        // The default partition has the triggers of its parent.
        .map(([, table, name]) => `${name} ${table!.replace(/_default$/, '')}`),
    )
    const section = /^## Triggers$(.*?)^## /ms.exec(read('docs/architecture.md'))![1]!
    const rows = [...section.matchAll(/^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \|$/gm)]
    const listed = rows.flatMap(([, name, tables]) =>
      [...tables!.matchAll(/`(\w+)`/g)].map(([, table]) => `${name} ${table}`),
    )
    assert.deepEqual([...stored].toSorted(), listed.toSorted())
    const kinds = new Set(rows.map(([, , , kind]) => kind))
    assert.deepEqual([...kinds].toSorted(), ['constraint', 'counter', 'invalidation'])
  })
})

type Writer = {
  readonly file: string
  readonly name: string
  readonly table: string
  readonly statement: string
}

const tables =
  'announcements|announcement_validations|regions|team_events|outbox|webhook_deliveries|notified_statuses'

/** Returns every statement of the product that writes any of the tables, with its function. */
function writers(): Writer[] {
  return globSync('server/src/**/*.ts', { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing[^/]*\.ts$|\/db\/schema\.ts$/.test(file))
    .toSorted()
    .flatMap((file) => {
      const text = read(file)
      const sql = [
        ...text.matchAll(new RegExp(`\\b(insert into|update|delete from) (${tables})\\b(?=([^\`]*))`, 'g')),
      ]
      const kysely = [
        ...text.matchAll(new RegExp(`\\b(insertInto|updateTable|deleteFrom)\\('(${tables})'\\)`, 'g')),
      ]
      return [...sql, ...kysely].map(({ 0: start, 2: table, 3: rest = '', index }) => ({
        file: file.replace('server/src/', ''),
        name: functionAt(text, index),
        table: table!,
        statement: start + rest,
      }))
    })
}

function functionAt(text: string, index: number): string {
  const names = [...text.slice(0, index).matchAll(/^(?:export )?(?:async )?(?:function|const) (\w+)/gm)]
  return names.at(-1)?.[1] ?? ''
}

/** Returns the source of a function, up to the next unindented line that closes a block. */
function bodyOf({ file, name }: Pick<Writer, 'file' | 'name'>): string {
  const text = read(`server/src/${file}`)
  const start = text.search(new RegExp(`^(export )?(async )?function ${name}\\b`, 'm'))
  return text.slice(start, text.indexOf('\n}\n', start))
}

const sites = (found: readonly Writer[]): string[] => [
  ...new Set(found.map(({ file, name }) => `${file} ${name}`)),
]

/** Returns the columns that the statement sets after `set`, up to its `where`. */
const sets = ({ statement }: Writer, column: RegExp): boolean =>
  column.test(/\bset\b(.*?)(\bwhere\b|$)/s.exec(statement)?.[1] ?? '')

describe('changes that teams are notified of', () => {
  const all = writers()
  const of = (table: string) => all.filter((writer) => writer.table === table)

  it('of a status are written by functions that notify', () => {
    const found = of('announcements').filter((writer) => sets(writer, /(?<![\w.])status =/))
    assert.deepEqual(sites(found), [
      'byoip/announcement/announcement.store.ts saveAnnouncements',
      'byoip/status/status.store.ts saveStatuses',
    ])
    for (const writer of found) assert.match(bodyOf(writer), /await notifyStatusChanges\(\s*trx/)
  })

  it('of the result of a region’s check are written by functions that notify', () => {
    const found = of('regions').filter((writer) =>
      sets(writer, /\b(last_check|last_check_result|neighbors[46]) =/),
    )
    assert.deepEqual(sites(found), [
      'byoip/regions/reconcile.store.ts saveCheck',
      'byoip/regions/reconcile.store.ts saveFailedCheck',
    ])
    for (const writer of found) assert.match(bodyOf(writer), /await notifyCheckedStatuses\(trx\)/)
  })

  it('of a check’s state are written by the function that notifies, or are the first state of an origin', () => {
    const found = of('announcement_validations').filter((writer) => !sets(writer, /^\s*next_check = \S+\s*$/))
    assert.deepEqual(sites(found), [
      'byoip/validation/validation.store.ts upsertChecks',
      'byoip/validation/validation.store.ts saveFirstChecks',
      'platform/kinds/announcement.store.ts forgetChecks',
    ])
    assert.match(bodyOf(found[0]!), /await writeMessages\(trx, failedCheckMessages\(/)
  })

  it('of a team’s events are written by functions whose only callers notify', () => {
    // Messages about incidents follow from messages about events.
    const moves = of('team_events').filter((writer) => writer.file === 'events/relate/incident.store.ts')
    for (const writer of moves) assert.ok(sets(writer, /^\s*incident = \S+\s+(from .*)?$/s), writer.name)
    const others = of('team_events').filter((writer) => !moves.includes(writer))
    assert.deepEqual(sites(others), [
      'events/relate/team-event.store.ts saveTeamEvents',
      'events/relate/team-event.store.ts saveShown',
      'events/relate/team-event.store.ts deleteTeamEvents',
    ])
    for (const name of ['saveTeamEvents', 'saveShown', 'deleteTeamEvents'])
      assert.match(bodyOf({ file: 'events/relate/team-event.store.ts', name }), /await saveRollup\(/, name)
    const callersOf = (call: RegExp) =>
      globSync('server/src/**/*.ts', { cwd: root }).filter((file) => call.test(read(file)))
    assert.deepEqual(callersOf(/await saveTeamEvents\(/), ['server/src/events/relate/relationship.ts'])
    assert.deepEqual(callersOf(/await saveShown\(/), ['server/src/events/relate/show-event.ts'])
    const view = bodyOf({ file: 'events/relate/show-event.ts', name: 'showEvents' })
    assert.match(view, /saveShown\(.*await writeMessages\(\s*trx/s)
    const caller = bodyOf({ file: 'events/relate/relationship.ts', name: 'relateEvents' })
    assert.match(caller, /saveTeamEvents\(.*await writeMessages\(trx, eventMessages\(/s)
  })

  it('are written to the outbox by one module', () => {
    assert.deepEqual(sites(of('outbox')), [
      'db/maintenance.ts expired',
      'outbox/outbox.store.ts insertMessages',
    ])
    const added = of('webhook_deliveries').filter(({ statement }) => statement.startsWith('insert'))
    assert.deepEqual(sites(added), [
      'outbox/outbox.store.ts insertMessages',
      'webhook/delivery.store.ts insertTest',
    ])
    assert.deepEqual(sites(of('notified_statuses')), [
      'byoip/status/status-message.store.ts notifyShown',
      'platform/kinds/announcement.store.ts transferAnnouncement',
    ])
  })
})
