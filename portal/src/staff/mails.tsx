// The mails of the installation: what became of each. What a mail says is not shown: it may contain links that work once.
import { Text } from '@mantine/core'
import { listMailsRoute, mailStates, type Mail, type MailState } from '@pharos/contract/operator/mail'
import { Dimmed, OrDash, timeColumn } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { Facts } from '../ui/facts.tsx'
import type { Column } from '../ui/list-column.ts'
import type { PanelDeclaration } from '../ui/list-panel.tsx'
import { List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { useListSearch, type ListDeclaration } from '../ui/use-list-search.ts'
import { CustomerLink } from './change-view.tsx'
import { words } from './console-words.ts'
import classes from './staff.module.css'

const { mails: t } = words

const colors: Record<MailState, StateColor> = { queued: 'info', sent: 'ok', failed: 'bad' }

/** A mail that is queued and was tried has a problem. */
const MailPill = ({ mail: { state, error } }: { mail: Mail }) =>
  state === 'queued' && error !== null ? (
    <StatePill color="warn">{t.retried}</StatePill>
  ) : (
    <StatePill color={colors[state]}>{t.states[state]}</StatePill>
  )

const kindText = (kind: string): string => t.kinds[kind] ?? kind.replaceAll('-', ' ')

const columns: readonly Column<Mail>[] = [
  {
    id: 'recipient',
    header: t.recipient,
    width: 220,
    card: 'primary',
    cell: ({ recipient }) => recipient,
  },
  { id: 'state', header: t.state, width: 130, card: 'state', cell: (mail) => <MailPill mail={mail} /> },
  { id: 'kind', header: t.kind, width: 190, card: 'secondary', cell: ({ kind }) => kindText(kind) },
  { id: 'team', header: t.team, width: 140, cell: ({ team }) => <OrDash>{team?.name}</OrDash> },
  {
    id: 'attempts',
    header: t.attempts,
    orderBy: 'attempts',
    largestFirst: true,
    align: 'right',
    width: 100,
    cell: ({ attempts }) => attempts.toLocaleString('en'),
  },
  {
    id: 'error',
    header: t.error,
    width: 200,
    grows: true,
    cell: ({ error }) => error !== null && <span className={classes['bad']}>{error}</span>,
  },
  timeColumn('created', t.created, ({ created }) => created, { orderBy: 'created' }),
  timeColumn('ended', t.ended, ({ ended }) => ended, { hidden: true }),
]

const panel: PanelDeclaration<Mail> = {
  title: (mail) => (mail ? kindText(mail.kind) : t.title),
  render: (_id, mail) => (mail ? <Details mail={mail} /> : <Dimmed>{words.notInView}</Dimmed>),
}

const Details = ({ mail }: { mail: Mail }) => {
  const { recipient, kind, team, attempts, created, due, ended, error } = mail
  return (
    <>
      <Facts
        facts={[
          [t.recipient, recipient],
          [t.state, <MailPill key="state" mail={mail} />],
          [t.kind, kindText(kind)],
          [t.team, team && <CustomerLink key="team" team={team} />],
          [t.attempts, attempts.toLocaleString('en')],
          [t.created, <Time key="created" at={created} />],
          [t.due, due === null ? undefined : <Time key="due" at={due} />],
          [t.ended, ended === null ? undefined : <Time key="ended" at={ended} />],
        ]}
      />
      {error !== null && (
        <Text size="sm" mt="md" className={classes['bad']!}>
          {error}
        </Text>
      )}
    </>
  )
}

const declaration: ListDeclaration = {
  sort: '-id',
  search: { kind: 'text', name: 'search', label: t.search, placeholder: t.search },
  filters: [
    {
      kind: 'choice',
      name: 'state',
      label: t.state,
      isOpen: true,
      options: mailStates.map((value) => ({ value, label: t.states[value], color: colors[value] })),
    },
    {
      kind: 'choice',
      name: 'kind',
      label: t.kind,
      options: Object.entries(t.kinds).map(([value, label]) => ({ value, label })),
    },
  ],
}

export function Mails() {
  const view = useListSearch('/staff/mails', declaration)
  return (
    <Page title={t.title} note={t.note}>
      <List<Mail>
        name="mails"
        things={t.things}
        route={listMailsRoute}
        view={view}
        columns={columns}
        panel={panel}
        refetchMs={15_000}
        empty={<Empty title={t.none}>{t.noneHelp}</Empty>}
      />
    </Page>
  )
}
