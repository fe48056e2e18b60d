// The registries that the checks of announcements read: the age and the problems of each source.
import { Alert, Skeleton, Table } from '@mantine/core'
import { listRegistriesRoute, type RegistrySource, type RegistryState } from '@pharos/contract/operator/team'
import { useAnswer } from '../api/queries.ts'
import { Mono } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Page } from '../ui/page.tsx'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'
import classes from './staff.module.css'

const { registries: t } = words

const colors: Record<RegistryState, StateColor> = {
  up: 'ok',
  suspicious: 'warn',
  down: 'bad',
  unknown: 'idle',
}

export function Registries() {
  const { data, error, refetch } = useAnswer(listRegistriesRoute, {}, { refetchInterval: 10_000 })
  const bad = data?.sources.filter(({ state }) => state === 'down' || state === 'suspicious').length ?? 0
  return (
    <Page title={t.title} note={t.note}>
      {error && <Problem error={error} retry={refetch} />}
      {!data && !error && <Skeleton height={160} />}
      {data?.sources.length === 0 && <Empty title={t.none}>{t.noneHelp}</Empty>}
      {bad > 0 && (
        <Alert color="bad" role="alert" title={t.failing(bad)}>
          {t.failingHelp}
        </Alert>
      )}
      {data && data.sources.length > 0 && (
        <Section title={t.sources} flush>
          <Table.ScrollContainer minWidth={760}>
            <Table fz="sm" className={classes['table']!}>
              <Table.Thead>
                <Table.Tr>
                  {[t.source, t.kind, t.state, t.lastAnswer, t.records, t.version, t.processes].map(
                    (head) => (
                      <Table.Th key={head}>{head}</Table.Th>
                    ),
                  )}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {data.sources.map((source) => (
                  <SourceRow key={`${source.kind} ${source.name}`} source={source} />
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Section>
      )}
    </Page>
  )
}

function SourceRow({ source }: { source: RegistrySource }) {
  const { kind, name, state, last_answer, last_error, records, serial, processes, reported } = source
  return (
    <Table.Tr>
      <Table.Td>
        <Mono>{name}</Mono>
      </Table.Td>
      <Table.Td>{t.kinds[kind]}</Table.Td>
      <Table.Td>
        <StatePill color={colors[state]}>{t.states[state]}</StatePill>
        {state === 'suspicious' && <div className={classes['small']}>{t.suspicious}</div>}
        {reported === null && <div className={classes['small']}>{t.unreported}</div>}
        {last_error !== null && <div className={classes['bad']}>{last_error}</div>}
      </Table.Td>
      <Table.Td>
        <Time at={last_answer} none={t.never} />
      </Table.Td>
      <Table.Td>{records === null ? '–' : records.toLocaleString('en')}</Table.Td>
      <Table.Td>{serial === null ? '–' : <Mono>{serial}</Mono>}</Table.Td>
      <Table.Td>{t.processCount(processes)}</Table.Td>
    </Table.Tr>
  )
}
