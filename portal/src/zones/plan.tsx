// The effect of a change of record sets, before it is applied and afterwards in the history: line by line, added and removed records.
import { Text } from '@mantine/core'
import type { RecordSet, ZoneChanges } from '@pharos/contract/dns/recordset'
import { ttlText } from './record-drafts.ts'
import { words } from './words.ts'
import classes from './zones.module.css'

const { plan: texts } = words

export type Changes = Pick<
  ZoneChanges,
  'added' | 'changed' | 'removed' | 'added_count' | 'changed_count' | 'removed_count'
>

export const changeCount = (changes: Changes): number =>
  changes.added_count + changes.changed_count + changes.removed_count

export function Plan({ changes }: { changes: Changes }) {
  const { added, changed, removed, added_count, changed_count, removed_count } = changes
  if (changeCount(changes) === 0) return <Text size="sm">{texts.none}</Text>
  return (
    <>
      <Text size="sm" c="dimmed">
        {texts.count(added_count, changed_count, removed_count)}
      </Text>
      <div className={classes['plan']} role="group" aria-label={texts.label} tabIndex={0} data-verbatim>
        {removed.map((set) => (
          <Lines key={`- ${set.id}`} before={set} />
        ))}
        {changed.map(({ before, after }) => (
          <Lines key={`~ ${after.id}`} before={before} after={after} />
        ))}
        {added.map((set) => (
          <Lines key={`+ ${set.id}`} after={set} />
        ))}
      </div>
      <More shown={added.length + changed.length + removed.length} total={changeCount(changes)} />
    </>
  )
}

const More = ({ shown, total }: { shown: number; total: number }) =>
  total > shown && (
    <Text size="sm" c="dimmed">
      {texts.more(total - shown)}
    </Text>
  )

const linesOf = (set: RecordSet | undefined): string[] =>
  set === undefined
    ? []
    : [
        ...set.records.map((record) => `${set.name}  ${ttlText(set.ttl)}  ${set.type}  ${record}`),
        ...(set.comment === '' ? [] : [`${set.name}  ${texts.comment}: ${set.comment}`]),
      ]

function Lines({ before, after }: { before?: RecordSet; after?: RecordSet }) {
  const [old, next] = [linesOf(before), linesOf(after)]
  const [oldSet, nextSet] = [new Set(old), new Set(next)]
  const lines = [
    ...old.filter((line) => !nextSet.has(line)).map((text) => ({ text, kind: 'removed' as const })),
    ...old.filter((line) => nextSet.has(line)).map((text) => ({ text, kind: 'kept' as const })),
    ...next.filter((line) => !oldSet.has(line)).map((text) => ({ text, kind: 'added' as const })),
  ]
  return (
    <div className={classes['planSet']}>
      {lines.map(({ text, kind }) => (
        <div key={`${kind} ${text}`} className={classes['planLine']} data-kind={kind}>
          <span aria-label={{ removed: texts.before, added: texts.after, kept: texts.kept }[kind]} role="img">
            {{ removed: '−', added: '+', kept: ' ' }[kind]}
          </span>
          {text}
        </div>
      ))}
    </div>
  )
}
