// The elements of one kind: who manages each, and its dialogs. What a file manages is shown, and changed there.
import { Alert, Button, Group, Skeleton, Stack } from '@mantine/core'
import {
  listPlatformElementsRoute,
  listPlatformKindsRoute,
  platformManagers,
  type PlatformElement,
  type PlatformKind,
} from '@pharos/contract/operator/platform'
import { IconPlus } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { useMemo, type ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { Dimmed, Mono, OrDash } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import { ButtonLink, TextLink } from '../ui/link.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { StatePill } from '../ui/status.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { DeleteElement, ElementDialog } from './element-dialog.tsx'
import { fieldLabel, kindText, managers, words } from './words.ts'

const declaration: ListDeclaration = {
  sort: 'key',
  search: { kind: 'text', name: 'search', label: words.search, placeholder: words.search },
  filters: [
    {
      kind: 'choice',
      name: 'managed_by',
      label: words.managedBy,
      isSingle: true,
      options: platformManagers.map((value) => ({ value, label: managers[value] })),
    },
  ],
}

const keyOf = ({ key }: PlatformElement): string => key

export function PlatformElements() {
  const { section } = useParams({ strict: false }) as { section: string }
  const { data, error, refetch } = useAnswer(listPlatformKindsRoute, {})
  const kind = data?.kinds.find((one) => one.section === section)
  const { title, about } = kindText(section)
  const note = (
    <>
      {about} <TextLink to="/staff/platform">{words.back}</TextLink>
    </>
  )
  return (
    <Page title={title} note={note} actions={kind && data && <Create kind={kind} kinds={data.kinds} />}>
      {error && !data && <Problem error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={200} />}
      {data && !kind && <Empty title={words.none(title)}>{words.noneHelp}</Empty>}
      {kind && data && <Elements key={section} kind={kind} kinds={data.kinds} />}
    </Page>
  )
}

type KindProps = { readonly kind: PlatformKind; readonly kinds: readonly PlatformKind[] }

function Create({ kind, kinds }: KindProps) {
  const { section } = kind
  const existing = useAnswer(listPlatformElementsRoute, { params: { section }, query: { limit: 1 } })
  if (kind.is_single && existing.data?.count !== 0) return null
  if (section === 'teams')
    return (
      <ButtonLink to="/staff/customers/new" leftSection={<IconPlus size={14} />}>
        {words.create(kindText(section).one)}
      </ButtonLink>
    )
  return (
    <ElementDialog
      kind={kind}
      kinds={kinds}
      trigger={(open) => (
        <Button leftSection={<IconPlus size={14} />} onClick={open}>
          {words.create(kindText(section).one)}
        </Button>
      )}
    />
  )
}

function Elements({ kind, kinds }: KindProps) {
  const view = useListSearch('/staff/platform/$section', declaration)
  const columns = useMemo(() => columnsOf(kind), [kind])
  const panel = useMemo(() => panelOf(kind, kinds), [kind, kinds])
  const { title, one } = kindText(kind.section)
  return (
    <List<PlatformElement>
      name={`platform-${kind.section}`}
      things={[one, title.toLowerCase()]}
      route={listPlatformElementsRoute}
      params={{ section: kind.section }}
      view={view}
      columns={columns}
      idOf={keyOf}
      panel={panel}
      empty={<Empty title={words.none(title)}>{words.noneHelp}</Empty>}
    />
  )
}

/** As many further fields as a laptop shows. */
const shownFields = 4

function columnsOf({ fields, identity }: PlatformKind): readonly Column<PlatformElement>[] {
  const further = fields.filter(
    ({ name, type }) => !identity.includes(name) && type !== 'json' && type !== 'secret',
  )
  return [
    {
      id: 'key',
      header: words.key,
      orderBy: 'key',
      width: 260,
      grows: true,
      card: 'primary',
      cell: ({ key }) => <Mono>{key}</Mono>,
    },
    {
      id: 'managed_by',
      header: words.managedBy,
      orderBy: 'managed_by',
      width: 130,
      card: 'state',
      cell: (element) => <Manager element={element} />,
    },
    ...further.map(({ name, initial }, at): Column<PlatformElement> => ({
      id: name,
      header: fieldLabel(name),
      width: 160,
      hidden: at >= shownFields,
      ...(at === 0 ? { card: 'secondary' as const } : {}),
      cell: ({ values }) => <OrDash>{shown(values[name] ?? initial)}</OrDash>,
    })),
  ]
}

const Manager = ({ element: { managed_by: manager } }: { element: PlatformElement }) => (
  <StatePill color={manager === 'portal' ? 'info' : 'idle'}>{managers[manager]}</StatePill>
)

function shown(value: unknown): ReactNode {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'number') return value.toLocaleString('en', { useGrouping: value >= 100_000 })
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || null
  if (typeof value !== 'object') return String(value)
  return Object.keys(value).length === 0 ? null : JSON.stringify(value)
}

const panelOf = (kind: PlatformKind, kinds: readonly PlatformKind[]): PanelDeclaration<PlatformElement> => ({
  title: (_element, key) => key,
  render: (_key, element) =>
    element ? <Details kind={kind} kinds={kinds} element={element} /> : <Skeleton height={120} />,
})

function Details({ kind, kinds, element }: KindProps & { element: PlatformElement }) {
  const { values, managed_by: manager, file, secrets } = element
  const isOurs = manager === 'portal'
  const note = words.readOnly[manager]
  return (
    <Stack gap="md">
      {!isOurs && (
        <Alert color={manager === 'team' ? 'info' : 'idle'}>
          {typeof note === 'function' ? note(file) : note}
        </Alert>
      )}
      <Facts
        facts={[
          [words.managedBy, <Manager key="manager" element={element} />],
          ...kind.fields.map(({ name, type, initial }): readonly [string, ReactNode] => [
            fieldLabel(name),
            type === 'secret'
              ? secrets.includes(name) && <Dimmed>{words.stored}</Dimmed>
              : shown(values[name] ?? initial),
          ]),
        ]}
      />
      <Group gap="xs">
        {(isOurs || manager === 'team') && (
          <ElementDialog
            // A change of the element is a change of the form's first values.
            key={JSON.stringify(values)}
            kind={kind}
            kinds={kinds}
            element={element}
            trigger={(open) => (
              <Button variant="default" onClick={open}>
                {words.edit}
              </Button>
            )}
          />
        )}
        {isOurs && (
          <DeleteElement
            section={kind.section}
            element={element}
            trigger={(open) => (
              <Button variant="subtle" color="bad" onClick={open}>
                {words.delete}
              </Button>
            )}
          />
        )}
      </Group>
    </Stack>
  )
}
