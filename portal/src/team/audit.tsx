// The audit log of the team: who changed what, when and from where.
import { Skeleton, Stack, Text } from '@mantine/core'
import { getAuditEntryRoute, listAuditEntriesRoute, type AuditEntry } from '@pharos/contract/team/audit'
import { listRegionsRoute } from '@pharos/contract/byoip/announcement'
import { listMembersRoute, type Member } from '@pharos/contract/team/member'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { monoColumn, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import type { Column } from '../ui/list-column.ts'
import type { Filter } from '../ui/list-filter.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Facts, type Fact } from '../ui/facts.tsx'
import { TextLink } from '../ui/link.tsx'
import { Problem } from '../ui/problem.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { deedOf } from './audit-sentence.ts'
import { entryText, nounText, targetText, linesOf } from './audit-words.ts'
import classes from './team.module.css'
import { words } from './words.ts'
import { diffLines } from 'diff'

const { audit: t } = words

export type AuditNames = {
  /** Names of members by actor. */
  readonly people: ReadonlyMap<string, string>
  readonly regionName: (slug: string) => string
}

const actorText = ({ actor, actor_name }: AuditEntry, { people }: AuditNames): string =>
  people.get(actor) ?? t.actors[actor] ?? actor_name ?? actor

export const auditColumns = <Entry extends AuditEntry>(names: AuditNames): readonly Column<Entry>[] => [
  {
    id: 'what',
    header: t.what,
    width: 420,
    grows: true,
    card: 'primary',
    cell: (entry) => (
      <span className={classes['sentence']}>
        <b>{actorText(entry, names)}</b> {deedOf(entry, names.regionName)}
      </span>
    ),
  },
  timeColumn('at', t.time, ({ at }) => at, { orderBy: 'at', card: 'secondary' }),
  { id: 'address', header: t.address, width: 150, card: 'secondary', cell: ({ address }) => address ?? '' },
  { id: 'actor', header: t.account, width: 220, hidden: true, cell: ({ actor_name }) => actor_name ?? '' },
  {
    id: 'sealed',
    header: t.seal,
    width: 130,
    cell: ({ sequence }) =>
      sequence === null ? <StatePill color="warn">{t.notSealed}</StatePill> : `#${sequence}`,
  },
  monoColumn('credential', t.credential, ({ credential }) => credential, { hidden: true, width: 200 }),
  monoColumn('request', t.requestId, ({ request_id }) => request_id, { hidden: true, width: 240 }),
]

/** The names that entries are read with. Entries of former members keep the address stored with them. */
function useNames(): readonly [AuditNames, readonly Member[]] {
  const members = useAnswer(listMembersRoute, { params: { team_id: 'current' }, query: { limit: 1000 } }).data
  const regions = useAnswer(listRegionsRoute, {}).data
  return useMemo(() => {
    const list = members?.results ?? []
    const people = new Map(list.map((one) => [`user:${one.user_id}`, one.display_name || one.email]))
    const cities = new Map(regions?.results.map(({ slug, name }) => [slug, name]))
    return [{ people, regionName: (slug) => cities.get(slug) ?? slug }, list]
  }, [members, regions])
}

export const actionFilter: Filter = {
  kind: 'choice',
  name: 'action',
  label: t.action,
  isOpen: true,
  options: t.actionGroups,
}
export const auditFilters: readonly Filter[] = [
  { kind: 'text', name: 'address', label: t.addressOrNetwork, placeholder: '203.0.113.0/24' },
  { kind: 'text', name: 'target', label: t.target, meaning: nounText },
  { kind: 'text', name: 'request_id', label: t.requestId },
]

const declarationWith = (members: readonly Member[]): ListDeclaration => ({
  sort: '-at',
  time: { start: 'start', end: 'end' },
  filters: [
    actionFilter,
    {
      kind: 'choice',
      name: 'actor',
      label: t.user,
      isOpen: true,
      options: [
        ...members.flatMap(({ user_id, display_name, email }) =>
          user_id === null ? [] : [{ value: `user:${user_id}`, label: display_name || email, note: email }],
        ),
        { value: 'staff', label: t.provider },
        { value: 'pharos', label: t.automatic },
      ],
    },
    ...auditFilters,
  ],
})

export function Audit() {
  const [names, members] = useNames()
  const declared = useMemo(() => declarationWith(members), [members])
  const view = useListSearch('/team/audit', declared)
  const columns = useMemo(() => auditColumns<AuditEntry>(names), [names])
  return (
    <List<AuditEntry>
      name="audit"
      things={t.things}
      route={listAuditEntriesRoute}
      view={view}
      columns={columns}
      panel={panel}
      empty={<Empty title={t.none} />}
      emptyFiltered={<Empty title={t.noMatch}>{t.noMatchText}</Empty>}
    />
  )
}

const panel: PanelDeclaration<AuditEntry> = {
  title: (entry) => (entry ? entryText(entry) : t.entry),
  render: (id) => <EntryView id={Number(id)} />,
}

function EntryView({ id }: { id: number }) {
  const [names] = useNames()
  const answer = useAnswer(getAuditEntryRoute, { params: { audit_id: id } })
  if (answer.error && !answer.data) return <Problem error={answer.error} retry={answer.refetch} />
  if (!answer.data) return <Skeleton height={240} />
  const { target } = answer.data
  return (
    <AuditDetails entry={answer.data} names={names}>
      <TextLink to="/team/audit" search={{ target }}>
        {t.allOf(targetText(answer.data))}
      </TextLink>
    </AuditDetails>
  )
}

type DetailsProps = {
  readonly entry: AuditEntry
  readonly names: AuditNames
  /** Facts before the others. */
  readonly facts?: readonly Fact[]
  /** A link to all entries of the target. */
  readonly children: React.ReactNode
}

export function AuditDetails({ entry, names, facts = [], children }: DetailsProps) {
  const { at, actor_name, address, credential, request_id, before, after } = entry
  return (
    <Stack>
      <Text size="sm">
        <b>{actorText(entry, names)}</b> {deedOf(entry, names.regionName)}.
      </Text>
      <Facts
        facts={[
          ...facts,
          [t.time, <Time key="at" at={at} />],
          [t.account, actor_name],
          [t.address, address],
          [t.credential, credential],
          [t.requestId, request_id],
          [t.target, children],
        ]}
      />
      {(before !== null || after !== null) && <Changes before={before} after={after} />}
    </Stack>
  )
}

/** What an entry changed, line by line: removed and added values by the names of their fields. */
function Changes({ before, after }: { before: unknown; after: unknown }) {
  return (
    <div className={classes['diff']} tabIndex={0} role="group" aria-label="Changes">
      {diffLines(linesOf(before), linesOf(after)).flatMap(({ added, removed, value }, part) =>
        value
          .replace(/\n$/, '')
          .split('\n')
          .map((line, at) => (
            <div
              key={`${part} ${at}`}
              className={added ? classes['added'] : removed ? classes['removed'] : classes['kept']}
            >
              <span aria-label={added ? 'after' : removed ? 'before' : 'unchanged'}>
                {added ? '+' : removed ? '−' : ' '}
              </span>
              {line}
            </div>
          )),
      )}
    </div>
  )
}
