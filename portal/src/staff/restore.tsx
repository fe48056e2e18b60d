// The open restore: the compared sources, the differences of each area, and their decisions.
import { Button, Group, Skeleton, Stack, Table, Text } from '@mantine/core'
import {
  actionsOfArea,
  closeRestoreRoute,
  decideRestoreRoute,
  getRestoreRoute,
  listRestoreItemsRoute,
  listRestoresRoute,
  type Restore,
  type RestoreAction,
  type RestoreArea,
  type RestoreItem,
} from '@pharos/contract/operator/restore'
import { call } from '../api/call.ts'
import { invalidate, useAnswer } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'
import classes from './staff.module.css'

const { restore: t } = words

export function RestorePage() {
  const answer = useAnswer(
    listRestoresRoute,
    { query: { state: ['open'], limit: 1 } },
    { refetchInterval: 5_000 },
  )
  const restore = answer.data?.results[0]
  return (
    <Page title={t.title} note={t.note}>
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      {answer.isPending && <Skeleton height={120} />}
      {answer.data && !restore && <Empty title={t.none}>{t.noneHelp}</Empty>}
      {restore && <OpenRestore restore={restore} />}
    </Page>
  )
}

function OpenRestore({ restore }: { restore: Restore }) {
  const { detail, detected, sessions_ended, sources, areas } = restore
  const undecided = areas.reduce((sum, area) => sum + area.undecided, 0)
  const uncompared = sources.filter(({ compared }) => compared === null)
  return (
    <Stack gap="md">
      <Section
        title={detail}
        actions={<Close restore={restore} disabled={undecided + uncompared.length > 0} />}
      >
        <div className={classes['facts']}>
          <Facts
            facts={[
              [t.detected, <Time key="detected" at={detected} />],
              [t.sessions, sessions_ended],
              [t.undecided, undecided],
              [t.uncompared, uncompared.map(({ name }) => name).join(', ') || t.everything],
            ]}
          />
        </div>
        <Text size="sm" mt="xs">
          {t.meanwhile}
        </Text>
      </Section>
      {areas.map(({ area }) => (
        <Area key={area} restore={restore} area={area} />
      ))}
    </Stack>
  )
}

function Close({ restore, disabled }: { restore: Restore; disabled: boolean }) {
  return (
    <Dialog
      route={closeRestoreRoute}
      title={t.closeTitle}
      action={t.close}
      danger
      trigger={(open) => (
        <Button disabled={disabled} onClick={open}>
          {t.close}
        </Button>
      )}
      onSubmit={async () => {
        await call(closeRestoreRoute, { params: { restore_id: restore.id }, body: {} })
        await refresh()
      }}
    >
      <Text size="sm">{t.closeText}</Text>
    </Dialog>
  )
}

const refresh = async (): Promise<void> => {
  await Promise.all(
    [listRestoresRoute, getRestoreRoute, listRestoreItemsRoute].map((route) => invalidate(route)),
  )
}

function Area({ restore, area }: { restore: Restore; area: RestoreArea }) {
  const answer = useAnswer(
    listRestoreItemsRoute,
    { params: { restore_id: restore.id }, query: { area: [area], limit: 1000, ordering: 'subject' } },
    { refetchInterval: 5_000 },
  )
  const decide = async (action: RestoreAction, items?: readonly number[]): Promise<void> => {
    const body = { area, action, ...(items ? { items: [...items] } : {}) }
    await call(decideRestoreRoute, { params: { restore_id: restore.id }, body })
    await refresh()
  }
  const items = answer.data?.results ?? []
  return (
    <Section
      title={t.areas[area]}
      flush
      note={t.differences(answer.data?.count ?? 0)}
      actions={
        <Group gap="xs">
          {actionsOfArea[area]
            .filter((action) => action !== 'adopt' || items.some(({ adoptable }) => adoptable))
            .map((action) => (
              <Decide
                key={action}
                action={action}
                label={t.all(t.actions[action])}
                onSubmit={() => decide(action)}
              />
            ))}
        </Group>
      }
    >
      {answer.error && <Problem error={answer.error} retry={answer.refetch} />}
      <Table.ScrollContainer minWidth={720}>
        <Table fz="sm" className={classes['table']!}>
          <Table.Thead>
            <Table.Tr>
              {t.columns.map((head) => (
                <Table.Th key={head}>{head}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((item) => (
              <Item key={item.id} item={item} decide={(action) => decide(action, [item.id])} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  )
}

type ItemProps = { readonly item: RestoreItem; readonly decide: (action: RestoreAction) => Promise<void> }

function Item({ item, decide }: ItemProps) {
  const { area, subject, source, kind, team, database, network, adoptable, decision } = item
  return (
    <Table.Tr>
      <Table.Td>
        <Mono>{subject}</Mono>
      </Table.Td>
      <Table.Td>{source}</Table.Td>
      <Table.Td>{team?.name ?? t.noTeam}</Table.Td>
      <Table.Td>{t.kinds[kind]}</Table.Td>
      <Table.Td>{sideText(database)}</Table.Td>
      <Table.Td>{sideText(network)}</Table.Td>
      <Table.Td>
        {decision === null ? (
          <StatePill color="warn">{t.open}</StatePill>
        ) : (
          <StatePill color="ok">{t.actions[decision]}</StatePill>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap={4} wrap="nowrap">
          {actionsOfArea[area]
            .filter((action) => action !== decision && (action !== 'adopt' || adoptable))
            .map((action) => (
              <Decide
                key={action}
                action={action}
                label={t.actions[action]}
                name={`${t.actions[action]} ${subject} ${source}`}
                onSubmit={() => decide(action)}
              />
            ))}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

type DecideProps = {
  readonly action: RestoreAction
  readonly label: string
  readonly name?: string
  readonly onSubmit: () => Promise<void>
}

const Decide = ({ action, label, name = label, onSubmit }: DecideProps) => (
  <Dialog
    route={decideRestoreRoute}
    title={name}
    action={label}
    trigger={(open) => (
      <Button size="xs" variant="default" aria-label={name} onClick={open}>
        {label}
      </Button>
    )}
    onSubmit={onSubmit}
  >
    <Text size="sm">{t.explained[action]}</Text>
  </Dialog>
)

/** Such as `AS64496 via 192.0.2.1`, `serial 2026040100` or `3 rules`. */
function sideText(side: RestoreItem['database']): string {
  if (side === null) return t.nothing
  const { route, routes, serial, rules, count } = side as Readonly<Record<string, unknown>>
  if (routes) return [...new Set(Object.values(routes as Record<string, string>))].join(', ')
  if (serial !== undefined) return t.serial(Number(serial))
  if (rules !== undefined) return t.rules(Number(rules))
  if (count !== undefined) return t.waiting(Number(count))
  return typeof route === 'string' ? route : t.notAnnounced
}
